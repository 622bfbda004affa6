"""Lookup, intervention, and other methods on the same input (paper section 4.2, Table 3, Figure 3).

The model was trained with `lookup` on a table with hidden test targets, or it predicts from stored
rows, which the duplicates replace. The probe uses the whole table: the originals have hidden
targets, and the duplicates of test rows show theirs.
"""

from __future__ import annotations

import numpy as np

from baselines import baselines
from baselines.lookup_task import predict_originals
from npt.data.encoding import one_hot_features
from npt.errors import Infeasible
from npt.interface import Resources
from npt.nn.duplicates import is_released, noisy_from
from npt.probing import Duplicates
from workflow.studies.query import ProbeQuery, rounded, sampled
from workflow.studies.study_kind import Facts, ProbeResult

SWEPT_ROWS = 20
SHOWN_ROWS = 500
MOST_NEIGHBOURS = 10


def probe(query: ProbeQuery) -> ProbeResult:
    """Errors with and without duplicates, of other methods, and the intervention."""
    query = query.with_rows(query.table.labelled(query.rows))
    if query.probe.lookup == "off":  # the duplicates become its stored rows
        posed = query.options.posed
        stored = duplicates_of(query, posed)
        probe = query.row_probe.among_duplicates(posed, query.rows, stored)
        query = query.with_probe(probe)
    probe = query.row_probe
    task = duplicates_of(query, probe.lookup)
    truth = query.truth
    predictions = probe.predict(query.rows)
    alone = probe.without_duplicates().predict(query.rows)
    swept_rows = sampled(query.rows, SWEPT_ROWS, query.seed)
    sweep = probe.intervention(query.table, query.split, swept_rows)
    swept_values = np.tile(sweep.values, len(sweep.predictions))
    swept = sweep.predictions.ravel()
    pairs = sampled(np.arange(len(truth)), SHOWN_ROWS, query.seed)  # paper Figure 3c
    facts = {
        "lookup": probe.lookup,
        "rmse": query.score(predictions)["rmse"],
        "correlation": _correlation(predictions, truth),
        "alone_rmse": query.score(alone)["rmse"],
        **neighbour_facts(query, task),
        **baseline_facts(query, task),
        "constant_rmse": query.score(query.constant())["rmse"],
        "looked_up": {"truth": rounded(truth[pairs]), "predicted": rounded(predictions[pairs])},
        "shift": sweep.shift,
        "intervention_correlation": _correlation(swept_values, swept),
        "intervention_slope": float(np.polyfit(swept_values, swept, 1)[0]),
        "intervention_rmse": float(np.sqrt(np.mean((swept - swept_values + sweep.shift) ** 2))),
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


def duplicates_of(query: ProbeQuery, lookup: str) -> Duplicates:
    """Features of the probed rows and of their duplicates, which show their targets.

    Args:
        lookup: Variant of the task; its noise is drawn by the seed of the probe.
    """
    table = query.table
    statistics = query.row_probe.trained.statistics
    originals = one_hot_features(table, statistics)[query.rows]
    duplicates = originals.copy()
    shown = statistics.standardised(query.truth, table.target)
    if "random_features" in lookup:
        sizes = [table.columns[j].size for j in table.features]
        noisy = slice(sum(sizes[: noisy_from(lookup, len(sizes))]), None)  # of the encoded features
        noise = np.random.default_rng((query.seed, 1))
        duplicates[:, noisy] = noise.normal(1.0, 1.0, duplicates[:, noisy].shape)
        if not is_released(lookup):
            noise = np.random.default_rng((query.seed, 0))
            originals[:, noisy] = noise.normal(1.0, 1.0, originals[:, noisy].shape)
    return Duplicates(originals, duplicates, shown + ("add_one" in lookup))


def neighbour_facts(query: ProbeQuery, task: Duplicates) -> Facts:
    """RMSE of the nearest duplicate, and the best of the means of the k nearest."""
    from sklearn.neighbors import NearestNeighbors

    most = min(MOST_NEIGHBOURS, len(query.rows))
    search = NearestNeighbors(n_neighbors=most, algorithm="brute").fit(task.duplicates)
    nearest = task.shown[search.kneighbors(task.originals, return_distance=False)]
    original = query.row_probe.trained.statistics.original
    errors = []
    for count in range(1, most + 1):
        predictions = original(nearest[:, :count].mean(1), query.table.target)
        errors.append(query.score(predictions)["rmse"])
    best = int(np.argmin(errors))
    return {"nearest_rmse": errors[0], "neighbours_rmse": errors[best], "neighbours": best + 1}


def baseline_facts(query: ProbeQuery, task: Duplicates) -> Facts:
    """RMSE of baselines that know the duplicates, or NaN and a reason."""
    model = query.row_probe.trained
    blind = query.table.blind(query.split.test)
    resources = Resources(query.threads, str(model.device))
    facts: Facts = {}
    reasons = []
    for name, settings in query.options.compare_with.items():
        encoded = settings.model_copy(update={"transductive": model.transductive})
        try:
            values = predict_originals(
                name, encoded, blind, query.split, task, query.seed, resources
            )
        except Infeasible as error:
            values = np.full(len(query.rows), np.nan)
            reasons.append(f"{baselines()[name].title}: {error}")
        predictions = model.statistics.original(values, query.table.target)
        facts[f"{name}_rmse"] = query.score(predictions)["rmse"]
    return {**facts, "compare_with_reasons": "; ".join(reasons)}
