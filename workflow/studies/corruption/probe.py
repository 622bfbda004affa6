"""Corruption of the other rows (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from npt.perturbation import Perturbation
from workflow.studies.corruption.changes import bootstrap, flipped, shift
from workflow.studies.corruption.selection import Selection
from workflow.studies.query import ProbeQuery, drawn, rounded, target_scale
from workflow.studies.study_kind import Facts

CONTROL_ROWS = 20
Arrays = dict[str, np.ndarray]


def probe(query: ProbeQuery) -> tuple[Facts, Arrays]:
    """Scores with the other rows intact, with each selection of cells permuted, and of a control.

    The control is the same procedure with the identity permutation, for up to 20 rows. `_shift`
    is in the units of the target, or a total variation distance. `target_deviation` is the
    standard deviation of the train targets.
    """
    clean = query.probe.predict(query.rows)
    facts: Facts = query.score(clean, "clean_")
    facts["target_deviation"] = target_scale(query.table, query.split)
    arrays = {"clean": clean}
    for selection in query.options.selections:
        corrupted = []
        for draw in range(query.options.permutations):
            predictions = query.perturbed(selection.permuted(draw))
            corrupted.append(predictions)
            arrays[_array_name(selection, draw)] = predictions
        facts |= _facts(query, selection, clean, corrupted)
    control = query.with_rows(drawn(query.rows, CONTROL_ROWS, query.seed))
    unpermuted = control.perturbed(Perturbation("shuffle", 0.0))
    is_control = np.isin(query.rows, control.rows)
    facts |= control.score(clean[is_control], "control_clean_")
    facts |= control.score(unpermuted, "control_")
    arrays["control_rows"] = control.rows
    arrays["control"] = unpermuted
    return facts, arrays


def _facts(
    query: ProbeQuery,
    selection: Selection,
    clean: np.ndarray,
    corrupted: list[np.ndarray],
) -> Facts:
    """Mean scores and shifts over the permutations, standard deviations of the scores, and the
    bootstrap samples.
    """
    facts: Facts = {}
    scores = [query.score(predictions, f"{selection.name}_") for predictions in corrupted]
    for name in scores[0]:
        values = [permutation[name] for permutation in scores]
        facts[name] = float(np.mean(values))
        if len(values) > 1:
            facts[f"{name}_deviation"] = float(np.std(values, ddof=1))
    task = query.table.task
    shifts = [shift(task, clean, predictions) for predictions in corrupted]
    facts[f"{selection.name}_shift"] = float(np.mean(shifts))
    if task != "regression":
        shares = [flipped(clean, predictions) for predictions in corrupted]
        facts[f"{selection.name}_flipped"] = float(np.mean(shares))
    changes = bootstrap(query, clean, corrupted)
    if changes is not None:
        samples = {"changes": rounded(changes, digits=4)}
        facts[f"{selection.name}_bootstrap"] = samples
    return facts


def permuted_predictions(
    arrays: Arrays, selection: Selection, permutations: int
) -> list[np.ndarray]:
    """Predictions of each permutation among the arrays of a probe."""
    return [arrays[_array_name(selection, draw)] for draw in range(permutations)]


def _array_name(selection: Selection, draw: int) -> str:
    """Name of the predictions of a permutation; all but the first end with its number."""
    return f"{selection.name}_{draw}" if draw else selection.name
