"""Corruption of the other rows (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from npt.perturbation import Perturbation
from workflow.studies.corruption.changes import bootstrap, shift
from workflow.studies.corruption.selection import Selection
from workflow.studies.query import ProbeQuery, drawn, rounded, target_scale
from workflow.studies.study_kind import Facts

CONTROL_ROWS = 20
Arrays = dict[str, np.ndarray]


def probe(query: ProbeQuery) -> tuple[Facts, Arrays]:
    """Scores with the other rows intact, with each selection of cells permuted, and of a control.

    Scores are means over the permutations. `_bootstrap` has the samples of their change. `_shift`
    is in the units of the target, or a total variation distance. `target_deviation` is the
    standard deviation of the train targets. The control is the same procedure with the identity
    permutation, for up to 20 rows.
    """
    clean = query.probe.predict(query.rows)
    facts: Facts = query.score(clean, "clean_")
    facts["target_deviation"] = target_scale(query.table, query.split)
    arrays = {"clean": clean}
    for selection in query.options.selections:
        for draw in range(query.options.permutations):
            arrays[_array_name(selection, draw)] = query.perturbed(selection.permuted(draw))
        corrupted = permuted_predictions(arrays, selection, query.options.permutations)
        scores = [query.score(predictions, f"{selection.name}_") for predictions in corrupted]
        for name in scores[0]:
            facts[name] = float(np.mean([permutation[name] for permutation in scores]))
        shifts = [shift(query.table.task, clean, predictions) for predictions in corrupted]
        facts[f"{selection.name}_shift"] = float(np.mean(shifts))
        changes = bootstrap(query, clean, corrupted)
        if changes is not None:
            facts[f"{selection.name}_bootstrap"] = {"changes": rounded(changes, digits=4)}
    control = query.with_rows(drawn(query.rows, CONTROL_ROWS, query.seed))
    arrays["control_rows"] = control.rows
    arrays["control"] = control.perturbed(Perturbation("shuffle", 0.0))
    facts |= control.score(clean[np.isin(query.rows, control.rows)], "control_clean_")
    facts |= control.score(arrays["control"], "control_")
    return facts, arrays


def permuted_predictions(
    arrays: Arrays, selection: Selection, permutations: int
) -> list[np.ndarray]:
    """Predictions of each permutation among the arrays of a probe."""
    return [arrays[_array_name(selection, draw)] for draw in range(permutations)]


def _array_name(selection: Selection, draw: int) -> str:
    """Name of the predictions of a permutation; all but the first end with its number."""
    return f"{selection.name}_{draw}" if draw else selection.name
