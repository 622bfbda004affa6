"""Attention between datapoints of every head (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from npt.data.encoding import one_hot_features
from npt.probing import RowProbe
from npt.table import Table
from workflow.studies.query import ProbeQuery, mean_or_nan, rounded
from workflow.studies.study_kind import ProbeResult

BINS = 20  # of the other rows, from near to far
FURTHER = 30  # rows for which a head's attention is compared with distances to them
MEASURES = ("nearness", "typical", "untrained", "reach", "partner", "own_class")


def probe(query: ProbeQuery) -> ProbeResult:
    """Measures and map of every head, compared with the same heads before training."""
    probe = query.row_probe
    measured = heads(probe, query.table, query.rows)
    untrained = probe.before_training()
    before = heads(untrained, query.table, query.rows) if untrained else {}
    facts = []
    maps = []
    arrays = {}
    for (layer, head), frame in measured.items():
        frame["untrained"] = before[layer, head]["nearness"] if before else np.nan
        measures = {name: rounded(frame[name].to_numpy()) for name in MEASURES}
        facts.append({"layer": layer, "head": head, **measures})
        relative = np.stack(frame["relative"].tolist())
        maps.append([rounded(line) for line in relative])
        arrays[f"relative_{layer}_{head}"] = relative
    return {"heads": {"heads": facts}, "maps": {"rows": maps}}, arrays


def heads(probe: RowProbe, table: Table, rows: np.ndarray) -> dict[tuple[int, int], pd.DataFrame]:
    """Attention of every head between datapoints for the test rows, in their contexts.

    Layers are counted from 0, and those between attributes count too. The heads of an ensemble's
    members follow each other.

    Returns:
        By layer and head, a frame with these columns and a line for each row:

        * `nearness`: Spearman's correlation of the attention to the other rows with their nearness,
          which is minus the squared distance of the encoded features.
        * `typical`: mean correlation of the same attention with the nearness to up to 30 further
          rows of the context. Central rows are near to all, so a head that ignores the query has a
          positive nearness too.
        * `reach`: mean distance weighted by attention, over the plain mean.
        * `partner`: attention to the query's own duplicate in the lookup task, else NaN.
        * `own_class`: attention to rows of the query's class, over their share of the context; NaN
          for numbers and unknown classes.
        * `relative`: mean attention (bins,) in bins of the others from near to far, where 1 is the
          mean over all others, which is what uniform attention has.
    """
    truth = table.truth
    measures: dict[tuple[int, int], dict[int, dict[str, Any]]] = defaultdict(dict)
    for attention in probe.attention(rows):
        row = attention.row
        originals = attention.context % table.rows
        _, first = np.unique(originals, return_index=True)
        further = np.sort(first[originals[first] != row])  # indices of the context
        generator = np.random.default_rng((probe.trained.seed, row))
        sample = generator.choice(further, min(FURTHER, len(further)), replace=False)
        statistics = probe.trained.statistics
        encoded = one_hot_features(table.take(np.append(originals, row)), statistics)
        context = encoded[:-1]
        centres = encoded[[-1, *sample]]
        distances = np.stack([((context - centre) ** 2).sum(1) for centre in centres])  # (1 + r, m)
        nearness = standardised_ranks(-distances)
        is_duplicate = attention.context == table.rows + row
        is_same = (truth[originals] == truth[row]) & (table.task != "regression")
        for layer, by_head in attention.weights.items():
            for head, weights in enumerate(by_head):
                correlations = nearness @ standardised_ranks(weights)
                reach, relative = spread(weights, distances[0], BINS)
                measures[layer, head][row] = {
                    "nearness": correlations[0],
                    "typical": mean_or_nan(correlations[1:]),
                    "reach": reach,
                    "partner": mean_or_nan(weights[is_duplicate]),
                    "own_class": mean_or_nan(weights[is_same]) / weights.mean(),
                    "relative": relative,
                }
    frames = {}
    for place, by_row in sorted(measures.items()):
        frames[place] = pd.DataFrame([by_row[row] for row in rows.tolist()])
    return frames


def spread(weights: np.ndarray, distances: np.ndarray, bins: int) -> tuple[float, np.ndarray]:
    """Reach, and relative attention in bins from near to far; NaN in bins without rows."""
    mean = distances.mean()
    reach = np.nan
    if mean > 0:
        reach = float(weights @ distances / weights.sum() / mean)
    from_near_to_far = weights[np.argsort(distances, kind="stable")]
    relative = np.full(bins, np.nan)
    parts = np.array_split(from_near_to_far, min(bins, len(weights)))
    relative[: len(parts)] = [part.mean() / weights.mean() for part in parts]
    return reach, relative


def standardised_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last dimension, centred and of length one, or zeros if all are equal.

    The product of two is Spearman's correlation.
    """
    ranks = rankdata(values, axis=-1)
    ranks = ranks - ranks.mean(-1, keepdims=True)
    length = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, length, out=np.zeros_like(ranks), where=length > 0)
