"""Other methods on the input of the lookup task: nearest neighbours and baselines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.lookup_task import predict_originals
from npt.data.encoding import one_hot_features
from npt.errors import Infeasible
from npt.interface import Resources
from npt.nn.duplicates import Rule, noisy_from
from npt.probing import Duplicates
from workflow.studies.query import ProbeQuery


def duplicates_of(query: ProbeQuery, lookup: str) -> Duplicates:
    """Features of the probed rows and of their duplicates, which show their targets.

    Args:
        lookup: Variant of the task; its noise is drawn by the seed of the probe.
    """
    table = query.table
    seed = query.seed
    rule = Rule.of(lookup)
    statistics = query.row_probe.trained.statistics
    originals = one_hot_features(table, statistics)[query.rows]
    duplicates = originals.copy()
    shown = (query.truth - statistics.centre[table.target]) / statistics.scale[table.target]
    if rule.random_features:
        sizes = [table.columns[j].size for j in table.features]
        noisy = slice(sum(sizes[: noisy_from(rule, len(sizes))]), None)  # of the encoded features
        noise = np.random.default_rng((seed, 1))
        duplicates[:, noisy] = noise.normal(1.0, 1.0, duplicates[:, noisy].shape)
        if not rule.released:
            noise = np.random.default_rng((seed, 0))
            originals[:, noisy] = noise.normal(1.0, 1.0, originals[:, noisy].shape)
    return Duplicates(originals, duplicates, shown + rule.add_one)


def neighbour_predictions(query: ProbeQuery, counts: Sequence[int]) -> np.ndarray:
    """Predictions (len(counts), n) by the mean of the k nearest duplicates, for each k."""
    from sklearn.neighbors import NearestNeighbors

    task = duplicates_of(query, query.probe.lookup)
    most = min(max(counts), len(query.rows))
    search = NearestNeighbors(n_neighbors=most, algorithm="brute")
    search.fit(task.duplicates)
    indices = search.kneighbors(task.originals, return_distance=False)
    nearest = task.shown[indices]
    values = np.stack([nearest[:, :count].mean(1) for count in counts])
    return query.row_probe.trained.statistics.original(values, query.table.target)


def baseline_predictions(
    query: ProbeQuery,
    name: str,
    settings: BaselineSettings,
) -> tuple[np.ndarray, str]:
    """Predictions of the originals by a baseline that knows the duplicates; or NaN and a reason."""
    model = query.row_probe.trained
    task = duplicates_of(query, query.probe.lookup)
    blind = query.table.blind(query.split.test)
    resources = Resources(query.threads, str(getattr(model, "device", "cpu")))
    encoding = {"transductive": model.transductive}
    try:
        values = predict_originals(
            name,
            settings.model_copy(update=encoding),
            blind,
            query.split,
            task,
            query.seed,
            resources,
        )
    except Infeasible as error:
        reason = f"{baselines()[name].title}: {error}"
        return np.full(len(query.rows), np.nan), reason
    return model.statistics.original(values, query.table.target), ""
