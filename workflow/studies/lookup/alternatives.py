"""Other methods on the input of the lookup task: nearest neighbours and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.lookup_task import predict_originals
from npt.data.encoding import one_hot_features
from npt.interface import (
    Duplicates,
    Infeasible,
    LookupModel,
    RecallingModel,
    Resources,
    RowModel,
)
from npt.nn.duplicates import Rule, noisy_from
from npt.table import Table
from workflow.studies.query import ProbeQuery


def among_duplicates(query: ProbeQuery) -> ProbeQuery:
    """The query, whose model predicts the probed rows among their duplicates.

    A model that was not trained on the lookup task has them as its stored rows.
    """
    if hasattr(query.model, "lookup"):
        return query
    model = cast(RecallingModel, query.model)
    posed = query.options.posed
    reader = model.with_duplicates(posed, query.rows, _duplicates(query, model, posed))
    return replace(query, model=reader)


def duplicates_of(query: ProbeQuery) -> Duplicates:
    """Features of the probed rows and of their duplicates, which show their targets."""
    model = cast(LookupModel, query.model)
    return _duplicates(query, model, model.lookup)


def _duplicates(query: ProbeQuery, model: RowModel, lookup: str) -> Duplicates:
    """What a variant of the task shows; its noise is drawn by the seed of the probe."""
    table = query.table
    seed = query.seed
    rule = Rule.of(lookup)
    originals = one_hot_features(table, model.statistics)[query.rows]
    duplicates = originals.copy()
    centre = model.statistics.centre[model.target]
    scale = model.statistics.scale[model.target]
    shown = (query.truth - centre) / scale
    if rule.random_features:
        noisy = _noisy_features(table, rule)
        _add_noise(duplicates[:, noisy], (seed, 1))
        if rule.both_halves:
            _add_noise(originals[:, noisy], (seed, 0))
    return Duplicates(originals, duplicates, shown + rule.add_one)


def _noisy_features(table: Table, rule: Rule) -> slice:
    """Position of the features with noise among the encoded ones."""
    sizes = [column.size for column in table.columns]
    del sizes[table.target]
    intact = noisy_from(rule, len(sizes))
    return slice(sum(sizes[:intact]), None)


def _add_noise(features: np.ndarray, seed: tuple[int, int]) -> None:
    """Replace features by N(1, 1), in place."""
    generator = np.random.default_rng(seed)
    features[:] = generator.normal(1.0, 1.0, features.shape)


def neighbour_predictions(query: ProbeQuery, counts: Sequence[int]) -> np.ndarray:
    """Predictions (len(counts), n) by the mean of the k nearest duplicates, for each k."""
    from sklearn.neighbors import NearestNeighbors

    task = duplicates_of(query)
    most = min(max(counts), len(query.rows))
    search = NearestNeighbors(n_neighbors=most, algorithm="brute")
    search.fit(task.duplicates)
    indices = search.kneighbors(task.originals, return_distance=False)
    nearest = task.shown[indices]
    values = np.stack([nearest[:, :count].mean(1) for count in counts])
    model = cast(LookupModel, query.model)
    return model.statistics.original(values, model.target)


def baseline_predictions(
    query: ProbeQuery,
    name: str,
    settings: BaselineSettings,
) -> tuple[np.ndarray, str]:
    """Predictions of the originals by a baseline that knows the duplicates; or NaN and a reason."""
    model = cast(LookupModel, query.model)
    task = duplicates_of(query)
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
    return model.statistics.original(values, model.target), ""
