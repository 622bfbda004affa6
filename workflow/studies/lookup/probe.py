"""Lookup and intervention (paper section 4.2, Table 3, Figure 3): does a trained model read a target off another row?

The model was trained with `lookup` on a table whose test targets were hidden. Here it meets the whole table: originals with
hidden targets, and their duplicates, of which those of test rows show theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from npt.data.encoding import one_hot_features
from npt.interface import Duplicates
from npt.nn.device import evaluating
from npt.nn.duplicates import Rule, noisy_from
from npt.nn.inputs import ModelInput
from npt.nn.queries import copies_at_once, query_batches
from npt.nn.trained import TrainedNPT
from npt.table import Split, Table


def looked_up(
    learner: TrainedNPT, table: Table, split: Split, rows: np.ndarray, *, duplicates: bool = True
) -> np.ndarray:
    """Predictions (n,) of `rows`, test rows of the whole `table`; without `duplicates` the control, originals alone."""
    learner = learner.with_table(table, split)
    if not duplicates:
        learner = learner.with_settings(replace(learner.settings, lookup="off"))
    return learner.predict(rows).values


@dataclass(frozen=True)
class Intervention:
    """What a trained model says of rows (n,) when their duplicates' targets are set to each of `values` (K,).

    `predicted` is (n, K), in units of the target as `values` are; `others` (n,) is the largest change that a sweep caused in
    the prediction of any other row.
    """

    values: np.ndarray
    predicted: np.ndarray
    others: np.ndarray


def intervened(
    learner: TrainedNPT, table: Table, split: Split, rows: np.ndarray, sweep: int = 10
) -> Intervention:
    """Sweep the target of one duplicate at a time over the range of the targets, all else fixed and nothing retrained."""
    learner = learner.with_table(table, split)
    data, device, target = learner.data, learner.data.codes.device, learner.data.target
    known = data.numbers[~data.missing[:, target], target]
    values = torch.linspace(float(known.max()), float(known.min()), sweep, device=device)
    predicted = torch.full((len(data.part), sweep), torch.nan, device=device)
    others = torch.full((len(data.part),), torch.nan, device=device)
    for batch in query_batches(learner, rows):
        n = len(batch.rows)
        originals = torch.arange(n, device=device)
        for active in batch.queries.split(max(1, copies_at_once(learner, batch.shape[0]) // sweep)):
            copies = _with_targets(batch.inputs, n + active, values, target)
            asked = originals.expand(len(active) * sweep, -1)
            with evaluating(learner.settings, device):
                outputs = (
                    learner.model.predict_target(copies, asked)[..., 0]
                    .float()
                    .view(len(active), sweep, n)
                )
            own = torch.arange(len(active), device=device)
            predicted[batch.rows[active]] = outputs[own, :, active]
            spread = outputs.amax(1) - outputs.amin(1)  # (active, n)
            spread[own, active] = 0.0
            others[batch.rows[active]] = spread.amax(1)
    chosen = torch.as_tensor(rows, device=device)
    return Intervention(
        learner.statistics.original(values.double().cpu().numpy(), target),
        learner.statistics.original(predicted[chosen].double().cpu().numpy(), target),
        others[chosen].double().cpu().numpy() * learner.statistics.scale[target],
    )


def _with_targets(
    cells: ModelInput, places: torch.Tensor, values: torch.Tensor, target: int
) -> ModelInput:
    """A copy of the input for each of `places` and `values`, in which the target that is shown at that place has that value."""
    copies = len(places) * len(values)
    codes, scale, marks = (x.expand(copies, -1, -1) for x in (cells.codes, cells.scale, cells.mask))
    scale, each = scale.clone(), torch.arange(copies, device=places.device)
    scale[each, places.repeat_interleave(len(values)), target] = values.repeat(len(places)).to(
        scale.dtype
    )
    return ModelInput(codes, scale, marks)


def halves(learner: TrainedNPT, table: Table, rows: np.ndarray, seed: int) -> Duplicates:
    """The input for `rows` of the whole table, made as `lookup` of the learner's settings says, with noise of the same kind."""
    known, rule = learner.statistics, Rule.of(learner.settings.lookup)
    originals = one_hot_features(table, known)[rows]
    duplicates, shown = (
        originals.copy(),
        (table.truth[rows] - known.centre[table.target]) / known.scale[table.target],
    )
    if rule.random_features:
        sizes = [column.size for j, column in enumerate(table.columns) if j != table.target]
        noisy = slice(sum(sizes[: noisy_from(rule, len(sizes))]), None)
        for place, half in enumerate((originals, duplicates)):
            if place == 1 or rule.both_halves:
                half[:, noisy] = np.random.default_rng((seed, place)).normal(
                    1.0, 1.0, half[:, noisy].shape
                )
    return Duplicates(originals, duplicates, shown + rule.add_one)


def by_neighbours(
    learner: TrainedNPT, table: Table, rows: np.ndarray, counts: Sequence[int], seed: int
) -> np.ndarray:
    """Predictions (len(counts), n) of `rows` from the k nearest duplicates, for every k: uniform weights, Euclidean."""
    from sklearn.neighbors import NearestNeighbors

    given = halves(learner, table, rows, seed)
    finder = NearestNeighbors(n_neighbors=min(max(counts), len(rows)), algorithm="brute").fit(
        given.duplicates
    )
    nearest = given.shown[finder.kneighbors(given.originals, return_distance=False)]
    values = np.stack([nearest[:, :count].mean(1) for count in counts])
    return learner.statistics.original(values, table.target)
