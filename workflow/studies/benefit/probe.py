"""How far predictions move, and what is lost, when other rows or their labels are permuted."""

from __future__ import annotations

import numpy as np

from workflow.studies.corruption.changes import movements
from workflow.studies.corruption.probe import Arrays, permuted_predictions
from workflow.studies.corruption.probe import probe as corruption_probe
from workflow.studies.query import ProbeQuery, target_scale
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, Arrays]:
    """Facts of the corruption of all cells of the other rows, and of their labels alone.

    For each selection, and for the control with the identity permutation, `_moved` is the share
    of the probed rows whose prediction moves by more than the threshold. `test_` metrics are over
    all test rows, like those of the twins.
    """
    facts, arrays = corruption_probe(query)
    clean = arrays["clean"]
    for selection in query.options.selections:
        predictions = permuted_predictions(arrays, selection, query.options.permutations)
        facts[f"{selection.name}_moved"] = _moved(query, clean, predictions)
    is_control = np.isin(query.rows, arrays["control_rows"])
    facts["control_moved"] = _moved(query, clean[is_control], [arrays["control"]])
    return {**facts, **query.test_scores()}, arrays


def _moved(query: ProbeQuery, clean: np.ndarray, predictions: list[np.ndarray]) -> float:
    """Share of moved predictions, over rows and permutations."""
    deviation = target_scale(query.table, query.split)
    shares = []
    for permuted in predictions:
        movement = movements(query.table.task, clean, permuted, deviation)
        shares.append((movement > query.options.threshold).mean())
    return float(np.mean(shares))
