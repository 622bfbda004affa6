"""Corruption of the other rows (paper section 4.3, Algorithm 1): what moves, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npt.perturbation import Perturbation
from npt.table import Task
from workflow.studies.query import ProbeQuery, rounded, sampled, target_scale
from workflow.studies.study_kind import Facts, ProbeResult

CONTROL_ROWS = 20
THRESHOLD = 0.01  # movement of a prediction that counts
SAMPLES = 1000


def probe(query: ProbeQuery) -> ProbeResult:
    """Scores with the other rows intact, with each selection of cells permuted, and of a control.

    Scores are means over the permutations. `_bootstrap` has the samples of their change. `_shift`
    is in the units of the target, or a total variation distance; `_moved` is the share of the rows
    whose prediction moves by more than a hundredth of the train targets' standard deviation, which
    is `target_deviation`, or of probability. The control is the same procedure with the identity
    permutation, for up to 20 rows.
    """
    task = query.table.task
    scale = target_scale(query.table, query.split)
    clean = query.probe.predict(query.rows)
    facts: Facts = {**query.score(clean, "clean_"), "target_deviation": scale}
    moved = {}
    arrays = {"clean": clean}
    for selection in query.options.selections:
        name = selection.name
        corrupted = []
        for draw in range(query.options.permutations):
            corrupted.append(query.perturbed(selection.permuted(draw)))
            arrays[f"{name}_{draw}" if draw else name] = corrupted[-1]
        scores = [query.score(predictions, f"{name}_") for predictions in corrupted]
        for metric in scores[0]:
            facts[metric] = float(np.mean([permutation[metric] for permutation in scores]))
        distances = [movements(task, clean, predictions) for predictions in corrupted]
        facts[f"{name}_shift"] = float(np.mean([shift(task, moves) for moves in distances]))
        changes = bootstrap(query, clean, corrupted)
        if changes is not None:
            facts[f"{name}_bootstrap"] = {"changes": rounded(changes, digits=4)}
        moved[f"{name}_moved"] = float(np.mean(np.stack(distances) / scale > THRESHOLD))
    control = query.with_rows(sampled(query.rows, CONTROL_ROWS, query.seed))
    intact = clean[np.isin(query.rows, control.rows)]
    arrays["control_rows"] = control.rows
    arrays["control"] = control.perturbed(Perturbation("shuffle", 0.0))
    distance = movements(task, intact, arrays["control"]) / scale
    moved["control_moved"] = float(np.mean(distance > THRESHOLD))
    facts |= control.score(intact, "control_clean_")
    facts |= control.score(arrays["control"], "control_")
    return {**facts, **moved}, arrays


def movements(task: Task, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Absolute change (n,) of each value, or the total variation distance of its probabilities.

    The latter is the largest change of the probability of any set of classes.
    """
    change = np.abs(after - before)
    return change if task == "regression" else change.sum(1) / 2


def shift(task: Task, distances: np.ndarray) -> float:
    """Root mean square of the movements of values, or the mean of those of probabilities."""
    if task == "regression":
        return float(np.sqrt(np.mean(distances**2)))
    return float(distances.mean())


def bootstrap(
    query: ProbeQuery, clean: np.ndarray, corrupted: Sequence[np.ndarray]
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
    predicted = np.stack([clean, *corrupted])[:, known]  # (states, rows), or (…, classes)
    if is_regression:
        by_state = (predicted - truth) ** 2
    else:
        by_state = 100.0 * (predicted.argmax(2) != truth)
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
