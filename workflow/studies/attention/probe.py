"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2): whom do the heads look at?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.stats import rankdata

from npt.data.encoding import one_hot_features
from npt.nn.device import evaluating
from npt.nn.model import NPT, Block
from npt.nn.queries import QueryBatch, query_batches
from npt.nn.trained import TrainedNPT
from npt.table import Table

FURTHER = 30


@dataclass(frozen=True)
class Head:
    """A head between datapoints, asked for m rows; `layer` counts all layers from 0, as the paper's depth does.

    `nearness` (m,) is Spearman's correlation of the attention to the other rows with how near they are (minus the squared
    distance of the encoded features). Rows in the middle of the data are near to all, so a head that looks at the same rows
    whoever asks has some too: `typical` (m,) is the mean correlation of the same attention with how near the others are to
    further rows of the batch, up to 30 drawn ones. `reach` (m,) is the others' mean distance weighted by attention,
    over their plain mean; `partner` (m,) the attention to the row's own duplicate in the lookup task, else NaN. `relative`
    (m, bins) is the mean attention in bins of others from near to far, where 1 is the mean over all others: what a head that
    looks at all alike has.
    """

    layer: int
    head: int
    nearness: np.ndarray
    typical: np.ndarray
    reach: np.ndarray
    partner: np.ndarray
    relative: np.ndarray


def heads(
    learner: TrainedNPT, table: Table, rows: np.ndarray, bins: int, model: NPT | None = None
) -> list[Head]:
    """Attention of every head for `rows`, test rows, to the others of their batches; of another `model`, if given."""
    features = one_hot_features(table, learner.statistics)
    found: dict[tuple[int, int], dict[int, tuple[float, float, float, float, np.ndarray]]] = {}
    for batch in query_batches(learner, rows):
        numbers, asked = batch.rows.cpu().numpy(), batch.queries.tolist()
        whole = features[np.tile(numbers, batch.shape[0] // len(numbers))]
        weights = _weights(model or learner.model, learner, batch)
        for i, place in enumerate(asked):
            further = np.delete(np.arange(len(numbers)), place)
            draws = np.random.default_rng((learner.seed, int(numbers[place])))
            drawn = draws.choice(further, min(FURTHER, len(further)), replace=False)
            centres = np.concatenate([[place], drawn])
            distances = np.stack(
                [((whole - whole[centre]) ** 2).sum(1) for centre in centres]
            )  # (1 + r, n)
            others = np.delete(distances, place, 1)  # (1 + r, n - 1)
            near = _standardised_ranks(-others)
            for layer, every in weights.items():
                for head, line in enumerate(every[:, i]):
                    attention = np.delete(line, place)
                    correlations = near @ _standardised_ranks(attention)
                    typical = correlations[1:].mean() if len(further) else np.nan
                    reach, relative = _spread(attention, others[0], bins)
                    partner = line[len(numbers) + place] if len(line) > len(numbers) else np.nan
                    measured = (correlations[0], typical, reach, partner, relative)
                    found.setdefault((layer, head), {})[int(numbers[place])] = measured
    made = []
    for (layer, head), by_row in sorted(found.items()):
        columns = zip(*(by_row[int(row)] for row in rows), strict=True)
        made.append(Head(layer, head, *(np.array(column, float) for column in columns)))
    return made


def _weights(model: NPT, learner: TrainedNPT, batch: QueryBatch) -> dict[int, np.ndarray]:
    """Attention (k, m, n) of the asked rows in every layer between datapoints, of one forward pass."""
    inputs: dict[int, torch.Tensor] = {}
    hooks = []
    for layer, (block, over_rows) in enumerate(zip(model.blocks, model.over_rows, strict=True)):
        if over_rows:
            hooks.append(block.register_forward_pre_hook(partial(_remember, inputs, layer)))
    try:
        with evaluating(learner.settings, batch.rows.device):
            model(batch.inputs)
            found = {}
            for layer, x in inputs.items():
                block = model.blocks[layer]
                assert isinstance(block, Block)
                found[layer] = block.probabilities(x, batch.queries[None])[0].double().cpu().numpy()
            return found
    finally:
        for hook in hooks:
            hook.remove()


def _remember(
    inputs: dict[int, torch.Tensor],
    layer: int,
    block: torch.nn.Module,
    given: tuple[torch.Tensor, ...],
) -> None:
    inputs[layer] = given[0]


def _spread(weights: np.ndarray, distances: np.ndarray, bins: int) -> tuple[float, np.ndarray]:
    """Reach, and relative attention in bins from near to far."""
    mean = distances.mean()
    reach = float(weights @ distances / weights.sum() / mean) if mean > 0 else float("nan")
    order = np.argsort(distances, kind="stable")
    relative = (
        np.array([part.mean() for part in np.array_split(weights[order], min(bins, len(order)))])
        / weights.mean()
    )
    return reach, np.pad(relative, (0, bins - len(relative)), constant_values=np.nan)


def _standardised_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks along the last dimension, centred and of length one: the product of two is Spearman's correlation.

    Zeros where all values are equal, as there is nothing to go along with.
    """
    ranks = rankdata(values, axis=-1)
    ranks = ranks - ranks.mean(-1, keepdims=True)
    length = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, length, out=np.zeros_like(ranks), where=length > 0)
