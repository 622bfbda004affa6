"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2): whom do the heads look at?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.stats import rankdata

from npt.encoding import one_hot_features
from npt.execution import autocast
from npt.interface import Table
from npt.learner import NPTLearner
from npt.model import NPT, Block
from npt.probes.batches import AskedBatch, asked_batches


@dataclass(frozen=True)
class Head:
    """A head between datapoints, asked for m rows; `layer` counts all layers from 0, as the paper's depth does.

    `nearness` (m,) is Spearman's correlation of the attention to the other rows with how near they are (minus the squared
    distance of the encoded features); `reach` (m,) their mean distance weighted by attention, over their plain mean;
    `partner` (m,) the attention to the row's own duplicate in the lookup task, else NaN. `relative` (m, bins) is the mean
    attention in bins of others from near to far, where 1 is the mean over all others: what a head that looks at all alike has.
    """

    layer: int
    head: int
    nearness: np.ndarray
    reach: np.ndarray
    partner: np.ndarray
    relative: np.ndarray


@torch.no_grad()
def heads(learner: NPTLearner, table: Table, rows: np.ndarray, bins: int, model: NPT | None = None) -> list[Head]:
    """Attention of every head for `rows`, test rows, to the others of their batches; of another `model`, if given."""
    features = one_hot_features(table, learner.known)
    found: dict[tuple[int, int], list[tuple[int, float, float, float, np.ndarray]]] = {}
    for batch in asked_batches(learner, rows):
        numbers = batch.rows.cpu().numpy()
        repeats = batch.shape[0] // len(numbers)
        for layer, weights in _weights(model or learner.model, learner, batch).items():
            for place, number in enumerate(batch.asked.tolist()):
                distances = np.tile(((features[numbers] - features[numbers[number]]) ** 2).sum(1), repeats)
                for head, line in enumerate(weights[:, place]):
                    measured = _measures(np.delete(line, number), np.delete(distances, number), bins)
                    partner = float(line[len(numbers) + number]) if repeats > 1 else float("nan")
                    found.setdefault((layer, head), []).append((int(numbers[number]), *measured[:2], partner, measured[2]))
    wanted = {int(row): place for place, row in enumerate(rows)}
    made = []
    for (layer, head), lines in sorted(found.items()):
        lines.sort(key=lambda line: wanted[line[0]])
        _, nearness, reach, partner, relative = zip(*lines, strict=True)
        made.append(Head(layer, head, np.array(nearness), np.array(reach), np.array(partner), np.stack(relative)))
    return made


def _weights(model: NPT, learner: NPTLearner, batch: AskedBatch) -> dict[int, np.ndarray]:
    """Attention (k, m, n) of the asked rows in every layer between datapoints, of one forward pass."""
    inputs: dict[int, torch.Tensor] = {}
    hooks = []
    for layer, (block, over_rows) in enumerate(zip(model.blocks, model.over_rows, strict=True)):
        if over_rows:
            hooks.append(block.register_forward_pre_hook(partial(_remember, inputs, layer)))
    try:
        with autocast(learner.settings, batch.rows.device):
            model(batch.cells)
            found = {}
            for layer, x in inputs.items():
                block = model.blocks[layer]
                assert isinstance(block, Block)
                found[layer] = block.probabilities(x, batch.asked[None])[0].double().cpu().numpy()
            return found
    finally:
        for hook in hooks:
            hook.remove()


def _remember(inputs: dict[int, torch.Tensor], layer: int, block: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
    inputs[layer] = given[0]


def _measures(weights: np.ndarray, distances: np.ndarray, bins: int) -> tuple[float, float, np.ndarray]:
    """Rank correlation with nearness, reach, and relative attention in bins from near to far."""
    nearness = _rank_correlation(weights, -distances)
    mean = distances.mean()
    reach = float(weights @ distances / weights.sum() / mean) if mean > 0 else float("nan")
    order = np.argsort(distances, kind="stable")
    relative = np.array([part.mean() for part in np.array_split(weights[order], min(bins, len(order)))]) / weights.mean()
    return nearness, reach, np.pad(relative, (0, bins - len(relative)), constant_values=np.nan)


def _rank_correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Spearman's correlation; 0 where one side is constant, as there is nothing to go along with."""
    left, right = rankdata(left), rankdata(right)
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return 0.0
    return float(np.corrcoef(left, right)[0, 1])
