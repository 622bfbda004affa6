"""Other methods on the input of the lookup task: nearest neighbours and baselines."""

from __future__ import annotations

import numpy as np

from baselines import baselines
from baselines.lookup_task import predict_originals
from npt.data.encoding import one_hot_features
from npt.errors import Infeasible
from npt.interface import Resources
from npt.nn.duplicates import Rule, noisy_from
from npt.probing import Duplicates
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

MOST_NEIGHBOURS = 10


def duplicates_of(query: ProbeQuery, lookup: str) -> Duplicates:
    """Features of the probed rows and of their duplicates, which show their targets.

    Args:
        lookup: Variant of the task; its noise is drawn by the seed of the probe.
    """
    table = query.table
    rule = Rule.from_variant(lookup)
    statistics = query.row_probe.trained.statistics
    originals = one_hot_features(table, statistics)[query.rows]
    duplicates = originals.copy()
    shown = (query.truth - statistics.centre[table.target]) / statistics.scale[table.target]
    if rule.random_features:
        sizes = [table.columns[j].size for j in table.features]
        noisy = slice(sum(sizes[: noisy_from(rule, len(sizes))]), None)  # of the encoded features
        noise = np.random.default_rng((query.seed, 1))
        duplicates[:, noisy] = noise.normal(1.0, 1.0, duplicates[:, noisy].shape)
        if not rule.released:
            noise = np.random.default_rng((query.seed, 0))
            originals[:, noisy] = noise.normal(1.0, 1.0, originals[:, noisy].shape)
    return Duplicates(originals, duplicates, shown + rule.add_one)


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
    resources = Resources(query.threads, str(getattr(model, "device", "cpu")))
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
