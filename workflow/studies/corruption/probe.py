"""Corruption of the other rows (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from npt.perturbation import Perturbation
from workflow.studies.corruption.changes import bootstrap, movements, shift
from workflow.studies.query import ProbeQuery, drawn, rounded, target_scale
from workflow.studies.study_kind import Facts

CONTROL_ROWS = 20
THRESHOLD = 0.01  # movement of a prediction that counts
Arrays = dict[str, np.ndarray]


def probe(query: ProbeQuery) -> tuple[Facts, Arrays]:
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
        shifts = [shift(task, clean, predictions) for predictions in corrupted]
        facts[f"{name}_shift"] = float(np.mean(shifts))
        changes = bootstrap(query, clean, corrupted)
        if changes is not None:
            facts[f"{name}_bootstrap"] = {"changes": rounded(changes, digits=4)}
        distances = [movements(task, clean, predictions, scale) for predictions in corrupted]
        moved[f"{name}_moved"] = float(np.mean(np.stack(distances) > THRESHOLD))
    control = query.with_rows(drawn(query.rows, CONTROL_ROWS, query.seed))
    intact = clean[np.isin(query.rows, control.rows)]
    arrays["control_rows"] = control.rows
    arrays["control"] = control.perturbed(Perturbation("shuffle", 0.0))
    distances = movements(task, intact, arrays["control"], scale)
    moved["control_moved"] = float(np.mean(distances > THRESHOLD))
    facts |= control.score(intact, "control_clean_")
    facts |= control.score(arrays["control"], "control_")
    return {**facts, **moved}, arrays
