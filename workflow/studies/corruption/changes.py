"""The change of test performance (paper Table 2), its bootstrap distribution over rows, and how far
predictions move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.table import Task
from workflow.studies.query import ProbeQuery

SAMPLES = 1000


def change(
    before: np.ndarray,
    after: np.ndarray,
    is_regression: np.ndarray | bool,
) -> np.ndarray:
    """Difference of accuracies in points, or minus the relative change of RMSE in percent.

    Negative is worse, as in the paper's Table 2. NaN where an RMSE is relative to zero.
    """
    difference = np.subtract(after, before)
    nonzero = np.where(np.equal(before, 0), np.nan, before)
    return np.where(is_regression, -100 * difference / nonzero, difference)


def increase(changes: np.ndarray, is_regression: np.ndarray | bool) -> np.ndarray:
    """Changes of the paper's sign as the increase of accuracy, or of RMSE."""
    return np.where(is_regression, np.negative(changes), changes)


def movements(
    task: Task,
    before: np.ndarray,
    after: np.ndarray,
    deviation: float = 1.0,
) -> np.ndarray:
    """Absolute change (n,) of each prediction.

    It is in units of the target's `deviation`, or the total variation distance of the class
    probabilities, which is the largest change of the probability of any set of classes.
    """
    change = np.abs(after - before)
    if task == "regression":
        return change / deviation
    return change.sum(1) / 2


def shift(
    task: Task,
    before: np.ndarray,
    after: np.ndarray,
) -> float:
    """Root mean square of the movements of values, or the mean of those of probabilities."""
    moved = movements(task, before, after)
    if task == "regression":
        return float(np.sqrt(np.mean(moved**2)))
    return float(moved.mean())


def flipped(before: np.ndarray, after: np.ndarray) -> float:
    """Share of the rows whose most probable class (n, C) changes."""
    return float((before.argmax(1) != after.argmax(1)).mean())


def bootstrap(
    query: ProbeQuery,
    clean: np.ndarray,
    corrupted: Sequence[np.ndarray],
) -> np.ndarray | None:
    """Changes (SAMPLES,) for samples of the probed rows with replacement.

    A row brings its clean and all its corrupted predictions into a sample. The samples depend on
    the fold and its probed rows alone: they are the same for all models, seeds and selections.

    Returns:
        None for fewer than two rows with a known target.
    """
    known = np.flatnonzero(~np.isnan(query.truth))
    if len(known) < 2:
        return None
    task = query.table.task
    truth = query.truth[known]
    scores = [_row_scores(task, truth, predicted[known]) for predicted in (clean, *corrupted)]
    by_state = np.stack(scores)
    generator = np.random.default_rng(query.seed)
    performances = []
    for _ in range(SAMPLES):
        sample = generator.integers(len(known), size=len(known))
        performances.append(_performance(task, by_state[:, sample]))
    before, *after = np.transpose(performances)
    return change(before, np.mean(after, axis=0), task == "regression")


def _row_scores(task: Task, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """What performance is the mean of (n,): squared errors, or whether the class is right."""
    if task == "regression":
        return (predicted - truth) ** 2
    return (predicted.argmax(1) == truth).astype(float)


def _performance(task: Task, row_scores: np.ndarray) -> np.ndarray:
    """RMSE, or accuracy in percent, of scores (..., n)."""
    mean = row_scores.mean(-1)
    if task == "regression":
        return np.sqrt(mean)
    return 100 * mean
