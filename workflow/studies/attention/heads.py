"""Attention between datapoints of every head, compared with distances of rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields

import numpy as np
from scipy.stats import rankdata

from npt.data.encoding import one_hot_features
from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch, query_batches
from npt.nn.trained import TrainedNPT
from npt.table import Table

FURTHER = 30  # rows for which a head's attention is compared with distances to them


@dataclass(frozen=True)
class Head:
    """Attention of a head between datapoints to the other rows, for m query rows.

    Attributes:
        layer: Index of the layer, from 0; layers between attributes count too.
        nearness: Spearman's correlation (m,) of the attention to the other rows with their
            nearness, which is minus the squared distance of the encoded features.
        typical: Mean correlation (m,) of the same attention with the nearness to up to 30 further
            rows of the batch. Central rows are near to all, so a head that ignores the query has
            a positive nearness too.
        reach: Mean distance (m,) weighted by attention, over the plain mean.
        partner: Attention (m,) to the query's own duplicate in the lookup task, else NaN.
        relative: Mean attention (m, bins) in bins of the others from near to far, where 1 is the
            mean over all others, which is what uniform attention has.
    """

    layer: int
    head: int
    nearness: np.ndarray
    typical: np.ndarray
    reach: np.ndarray
    partner: np.ndarray
    relative: np.ndarray


@dataclass(frozen=True)
class Measures:
    """What `Head` has, for one query row."""

    nearness: float
    typical: float
    reach: float
    partner: float
    relative: np.ndarray


@dataclass(frozen=True)
class Surroundings:
    """The rows of a batch as seen from a query row and from further rows.

    Attributes:
        query: Index of the query in the batch.
        duplicate: Index of its duplicate in the lookup task.
        distances: Squared distances (n - 1,) of the query to the others.
        nearness: Standardised ranks (1 + r, n - 1) of the others' nearness to the query and to
            the r further rows.
    """

    query: int
    duplicate: int | None
    distances: np.ndarray
    nearness: np.ndarray

    def measures(self, weights: np.ndarray, bins: int) -> Measures:
        """Compare the attention (n,) of the query with distances."""
        attention = np.delete(weights, self.query)
        correlations = self.nearness @ standardised_ranks(attention)
        typical = partner = np.nan
        if len(correlations) > 1:
            typical = correlations[1:].mean()
        if self.duplicate is not None:
            partner = weights[self.duplicate]
        reach, relative = spread(attention, self.distances, bins)
        return Measures(
            correlations[0],
            typical,
            reach,
            partner,
            relative,
        )


def heads(
    trained: TrainedNPT,
    table: Table,
    rows: np.ndarray,
    bins: int,
) -> list[Head]:
    """Attention of every head between datapoints for the test rows, in their batches."""
    features = one_hot_features(table, trained.statistics)
    measures: dict[tuple[int, int], dict[int, Measures]] = defaultdict(dict)
    for batch in query_batches(trained, rows):
        weights = _weights(trained, batch)
        for index, query in enumerate(batch.queries.tolist()):
            row = int(batch.rows[query])
            surroundings = _surroundings(
                features,
                batch,
                query,
                trained.seed,
            )
            for layer, of_layer in weights.items():
                for head, of_head in enumerate(of_layer):
                    measured = surroundings.measures(of_head[index], bins)
                    measures[layer, head][row] = measured
    results = []
    for layer, head in sorted(measures):
        by_row = measures[layer, head]
        results.append(_head(layer, head, [by_row[row] for row in rows.tolist()]))
    return results


def _weights(trained: TrainedNPT, batch: QueryBatch) -> dict[int, np.ndarray]:
    """Attention (heads, m, n) of the query rows in every layer between datapoints."""
    with evaluating(trained.settings, trained.device):
        weights = trained.model.attention_weights(batch.inputs, batch.queries[None])
    of_batch = {}
    for layer, of_layer in weights.items():
        of_batch[layer] = of_layer[0].double().cpu().numpy()
    return of_batch


def _head(layer: int, head: int, measures: list[Measures]) -> Head:
    columns = {}
    for field in fields(Measures):
        values = [getattr(row, field.name) for row in measures]
        columns[field.name] = np.array(values, float)
    return Head(layer, head, **columns)


def _surroundings(
    features: np.ndarray,
    batch: QueryBatch,
    query: int,
    seed: int,
) -> Surroundings:
    rows = batch.rows.cpu().numpy()
    originals = len(rows)
    inputs = batch.shape[0]
    further = np.delete(np.arange(originals), query)
    generator = np.random.default_rng((seed, int(rows[query])))
    count = min(FURTHER, len(further))
    drawn = generator.choice(further, count, replace=False)
    of_inputs = features[np.tile(rows, inputs // originals)]
    distances = []
    for centre in (query, *drawn):
        squared = ((of_inputs - of_inputs[centre]) ** 2).sum(1)
        distances.append(np.delete(squared, query))
    nearness = standardised_ranks(-np.stack(distances))
    duplicate = originals + query if inputs > originals else None
    return Surroundings(query, duplicate, distances[0], nearness)


def spread(
    weights: np.ndarray,
    distances: np.ndarray,
    bins: int,
) -> tuple[float, np.ndarray]:
    """Reach, and relative attention in bins from near to far; NaN in bins without rows."""
    mean = distances.mean()
    reach = float("nan")
    if mean > 0:
        reach = float(weights @ distances / weights.sum() / mean)
    from_near_to_far = weights[np.argsort(distances, kind="stable")]
    relative = np.full(bins, np.nan)
    parts = np.array_split(from_near_to_far, min(bins, len(weights)))
    for index, part in enumerate(parts):
        relative[index] = part.mean() / weights.mean()
    return reach, relative


def standardised_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last dimension, centred and of length one, or zeros if all are equal.

    The product of two is Spearman's correlation.
    """
    ranks = rankdata(values, axis=-1)
    ranks = ranks - ranks.mean(-1, keepdims=True)
    length = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(
        ranks,
        length,
        out=np.zeros_like(ranks),
        where=length > 0,
    )
