"""How far predictions move, and the bootstrap distribution of what it costs (paper Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.table import Task
from workflow.studies.query import ProbeQuery

SAMPLES = 1000


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


def shift(task: Task, before: np.ndarray, after: np.ndarray) -> float:
    """Root mean square of the movements of values, or the mean of those of probabilities."""
    moved = movements(task, before, after)
    if task == "regression":
        return float(np.sqrt(np.mean(moved**2)))
    return float(moved.mean())


def bootstrap(
    query: ProbeQuery,
    clean: np.ndarray,
    corrupted: Sequence[np.ndarray],
) -> np.ndarray | None:
    """Changes (SAMPLES,) for samples of the probed rows with replacement.

    A change is the difference of accuracies in points, or minus the relative change of RMSE in
    percent: negative is worse, as in the paper's Table 2. NaN where an RMSE is relative to zero.

    A row brings its clean and all its corrupted predictions into a sample. The samples depend on
    the fold and its probed rows alone: they are the same for all models, seeds and selections.

    Returns:
        None for fewer than two rows with a known target.
    """
    known = np.flatnonzero(~np.isnan(query.truth))
    if len(known) < 2:
        return None
    is_regression = query.table.task == "regression"
    truth = query.truth[known]
    errors = []
    for predicted in (clean, *corrupted):
        if is_regression:
            errors.append((predicted[known] - truth) ** 2)
        else:
            errors.append(100.0 * (predicted[known].argmax(1) != truth))
    by_state = np.stack(errors)
    generator = np.random.default_rng(query.seed)
    means = []
    for _ in range(SAMPLES):
        sample = generator.integers(len(known), size=len(known))
        means.append(by_state[:, sample].mean(1))
    sizes = np.sqrt(means) if is_regression else np.array(means)
    before = sizes[:, 0]
    gained = before - sizes[:, 1:].mean(1)
    if is_regression:
        return 100 * gained / np.where(before == 0, np.nan, before)
    return gained
