"""Other methods on the input of the lookup task: nearest neighbours and baselines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.lookup_task import predict_originals
from npt.data.encoding import one_hot_features
from npt.interface import Duplicates, Infeasible, Resources
from npt.nn.duplicates import Rule, noisy_from
from npt.nn.trained import TrainedNPT
from npt.table import Table
from workflow.studies.query import ProbeQuery


def duplicates_of(
    trained: TrainedNPT,
    table: Table,
    rows: np.ndarray,
    seed: int,
) -> Duplicates:
    """Features of `rows` and of their duplicates, which show their targets.

    The setting `lookup` of the model determines noise and shift; the noise is drawn by `seed`.
    """
    statistics = trained.statistics
    target = table.target
    rule = Rule.of(trained.settings.lookup)
    originals = one_hot_features(table, statistics)[rows]
    duplicates = originals.copy()
    shown = (table.truth[rows] - statistics.centre[target]) / statistics.scale[target]
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


def neighbour_predictions(
    trained: TrainedNPT,
    table: Table,
    rows: np.ndarray,
    counts: Sequence[int],
    seed: int,
) -> np.ndarray:
    """Predictions (len(counts), n) by the mean of the k nearest duplicates, for each k."""
    from sklearn.neighbors import NearestNeighbors

    task = duplicates_of(trained, table, rows, seed)
    most = min(max(counts), len(rows))
    search = NearestNeighbors(n_neighbors=most, algorithm="brute")
    search.fit(task.duplicates)
    indices = search.kneighbors(task.originals, return_distance=False)
    nearest = task.shown[indices]
    values = np.stack([nearest[:, :count].mean(1) for count in counts])
    return trained.statistics.original(values, table.target)


def baseline_predictions(
    query: ProbeQuery,
    name: str,
    settings: BaselineSettings,
    rows: np.ndarray,
) -> tuple[np.ndarray, str]:
    """Predictions of the originals by a baseline that knows the duplicates; or NaN and a reason."""
    trained = query.trained
    task = duplicates_of(trained, query.table, rows, query.seed)
    blind = query.table.blind(query.split.test)
    resources = Resources(query.threads, str(trained.device))
    encoding = {"transductive": trained.settings.transductive}
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
        return np.full(len(rows), np.nan), reason
    return trained.statistics.original(values, query.table.target), ""
