"""Lookup and intervention (paper section 4.2, Table 3, Figure 3).

The model was trained with `lookup` on a table with hidden test targets, or it predicts from stored
rows, which the duplicates replace. The probe uses the whole table: the originals have hidden
targets, and the duplicates of test rows show theirs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workflow.studies.lookup.alternatives import baseline_facts, duplicates_of, neighbour_facts
from workflow.studies.query import ProbeQuery, drawn, rounded
from workflow.studies.study_kind import Facts

SWEPT_ROWS = 20
SHOWN_ROWS = 500


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Errors with and without duplicates, of other methods, and the intervention."""
    query = query.with_rows(query.rows[~np.isnan(query.truth)])
    if query.probe.lookup == "off":  # the duplicates become its stored rows
        posed = query.options.posed
        stored = duplicates_of(query, posed)
        probe = query.row_probe.among_duplicates(posed, query.rows, stored)
        query = replace(query, probe=probe)
    probe = query.row_probe
    task = duplicates_of(query, probe.lookup)
    truth = query.truth
    predictions = probe.predict(query.rows)
    alone = probe.without_duplicates().predict(query.rows)
    statistics = probe.trained.statistics
    constant = np.full(len(truth), statistics.centre[query.table.target])
    swept_rows = drawn(query.rows, SWEPT_ROWS, query.seed)
    sweep = probe.intervention(query.table, query.split, swept_rows)
    shift = 0.0
    if "add_one" in probe.lookup:
        shift = float(statistics.scale[query.table.target])  # the duplicates' targets are larger
    swept_values = np.tile(sweep.values, len(sweep.predictions))
    swept = sweep.predictions.ravel()
    pairs = drawn(np.arange(len(truth)), SHOWN_ROWS, query.seed)  # paper Figure 3c
    facts = {
        "lookup": probe.lookup,
        "rmse": query.score(predictions)["rmse"],
        "correlation": _correlation(predictions, truth),
        "alone_rmse": query.score(alone)["rmse"],
        **neighbour_facts(query, task),
        **baseline_facts(query, task),
        "constant_rmse": query.score(constant)["rmse"],
        "looked_up": {"truth": rounded(truth[pairs]), "predicted": rounded(predictions[pairs])},
        "shift": shift,
        "intervention_correlation": _correlation(swept_values, swept),
        "intervention_slope": float(np.polyfit(swept_values, swept, 1)[0]),
        "intervention_rmse": float(np.sqrt(np.mean((swept - swept_values + shift) ** 2))),
        "intervention_others": float(np.median(sweep.others)),
        "sweep": {"values": sweep.values.tolist(), "predicted": sweep.predictions.tolist()},
    }
    arrays = {
        "looked_up": predictions,
        "alone": alone,
        "sweep_rows": swept_rows,
        "sweep": sweep.predictions,
    }
    return facts, arrays


def _correlation(values: np.ndarray, predictions: np.ndarray) -> float:
    return float(np.corrcoef(values, predictions)[0, 1])
