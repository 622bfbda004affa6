"""Attention between datapoints of every head, compared with distances of rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from npt.data.encoding import Statistics, one_hot_features
from npt.probing import RowProbe
from npt.table import Table

FURTHER = 30  # rows for which a head's attention is compared with distances to them


@dataclass(frozen=True)
class Head:
    """Attention of a head between datapoints to the other rows, for m query rows.

    Attributes:
        layer: Index of the layer, from 0; layers between attributes count too.
        head: Index of the head; those of an ensemble's members follow each other.
        nearness: Spearman's correlation (m,) of the attention to the other rows with their
            nearness, which is minus the squared distance of the encoded features.
        typical: Mean correlation (m,) of the same attention with the nearness to up to 30 further
            rows of the context. Central rows are near to all, so a head that ignores the query has
            a positive nearness too.
        reach: Mean distance (m,) weighted by attention, over the plain mean.
        partner: Attention (m,) to the query's own duplicate in the lookup task, else NaN.
        own_class: Attention (m,) to rows of the query's class, over their share of the context; NaN
            for numbers.
        relative: Mean attention (m, bins) in bins of the others from near to far, where 1 is the
            mean over all others, which is what uniform attention has.
    """

    layer: int
    head: int
    nearness: np.ndarray
    typical: np.ndarray
    reach: np.ndarray
    partner: np.ndarray
    own_class: np.ndarray
    relative: np.ndarray


Measures = dict[str, Any]  # of one query row, by the names of `Head`


class ComparedRows:
    """Features and classes of a table's rows; features are encoded when they are asked for.

    Attributes:
        count: Number of rows, N.
        classes: Class codes (N,) of the target; None for numbers.
    """

    def __init__(self, table: Table, statistics: Statistics) -> None:
        self.count = table.rows
        self.classes = None if table.task == "regression" else table.cells[table.target]
        self._table = table
        self._statistics = statistics
        self._features: np.ndarray | None = None
        self._is_known = np.zeros(table.rows, np.bool_)

    def features(self, row: int, others: np.ndarray) -> np.ndarray:
        """Encoded features (N, F), of which the lines of these rows are filled."""
        needed = np.append(others, row)
        missing = np.unique(needed[~self._is_known[needed]])
        if self._features is None or len(missing):
            encoded = one_hot_features(self._table.take(missing), self._statistics)
            if self._features is None:
                self._features = np.empty((self.count, encoded.shape[1]))  # takes no memory yet
            self._features[missing] = encoded
            self._is_known[missing] = True
        return self._features


@dataclass(frozen=True)
class Surroundings:
    """The context of a query row as seen from it and from further rows.

    Attributes:
        is_duplicate: Which rows of the context (m,) are the query's duplicate; none outside the
            lookup task.
        distances: Squared distances (m,) of the query to the rows of its context.
        nearness: Standardised ranks (1 + r, m) of their nearness to the query and to the r further
            rows.
        same_class: Which rows of the context (m,) have the query's class; None for numbers.
    """

    is_duplicate: np.ndarray
    distances: np.ndarray
    nearness: np.ndarray
    same_class: np.ndarray | None

    @classmethod
    def of(
        cls,
        rows: ComparedRows,
        row: int,
        context: np.ndarray,
        seed: int,
    ) -> Surroundings:
        """Distances of the encoded features, to further rows drawn from the context."""
        originals = context % rows.count
        features = rows.features(row, originals)
        others = originals[originals != row]
        _, first = np.unique(others, return_index=True)
        further = others[np.sort(first)]
        generator = np.random.default_rng((seed, row))
        count = min(FURTHER, len(further))
        sample = generator.choice(further, count, replace=False)
        encoded = features[originals]
        distances = []
        for centre in (row, *sample):
            distances.append(((encoded - features[centre]) ** 2).sum(1))
        nearness = standardised_ranks(-np.stack(distances))
        same_class = None
        if rows.classes is not None:
            same_class = rows.classes[originals] == rows.classes[row]
        return cls(
            is_duplicate=context == rows.count + row,
            distances=distances[0],
            nearness=nearness,
            same_class=same_class,
        )

    def measures(self, attention: np.ndarray, bins: int) -> Measures:
        """Compare the attention (m,) of the query with distances."""
        correlations = self.nearness @ standardised_ranks(attention)
        typical = partner = own_class = np.nan
        if len(correlations) > 1:
            typical = correlations[1:].mean()
        if self.is_duplicate.any():
            partner = attention[self.is_duplicate].item()
        if self.same_class is not None and self.same_class.any():
            own_class = attention[self.same_class].mean() / attention.mean()
        reach, relative = spread(attention, self.distances, bins)
        return {
            "nearness": correlations[0],
            "typical": typical,
            "reach": reach,
            "partner": partner,
            "own_class": own_class,
            "relative": relative,
        }


def heads(
    probe: RowProbe,
    table: Table,
    rows: np.ndarray,
    bins: int,
) -> list[Head]:
    """Attention of every head between datapoints for the test rows, in their contexts."""
    model = probe.trained
    compared = ComparedRows(table, model.statistics)
    measures: dict[tuple[int, int], dict[int, Measures]] = defaultdict(dict)
    for attention in probe.attention(rows):
        surroundings = Surroundings.of(compared, attention.row, attention.context, model.seed)
        for layer, by_head in attention.weights.items():
            for head, weights in enumerate(by_head):
                measures[layer, head][attention.row] = surroundings.measures(weights, bins)
    results = []
    for layer, head in sorted(measures):
        in_order = [measures[layer, head][row] for row in rows.tolist()]
        columns = {name: np.array([row[name] for row in in_order], float) for name in in_order[0]}
        results.append(Head(layer, head, **columns))
    return results


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
