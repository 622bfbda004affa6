"""Intervention: the target of one duplicate is set to several values (paper Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from npt.interface import Intervention
from npt.nn.device import evaluating
from npt.nn.inputs import ModelInput
from npt.nn.queries import QueryBatch, copies_at_once, query_batches

if TYPE_CHECKING:
    from npt.nn.trained import TrainedNPT


def intervention(
    trained: TrainedNPT,
    rows: np.ndarray,
    sweep: int,
) -> Intervention:
    """Set the target of one duplicate at a time to values over the range of all targets.

    Args:
        trained: Model of the lookup task on the whole table.
        rows: Test rows (n,) whose duplicates are changed.
        sweep: Number of values.
    """
    values = _values(trained, sweep)
    table_rows = len(trained.data.part)
    predictions = values.new_full((table_rows, sweep), torch.nan)
    others = values.new_full((table_rows,), torch.nan)
    for batch in query_batches(trained, rows):
        copies = copies_at_once(trained, batch.shape[0]) // sweep
        for queries in batch.queries.split(max(1, copies)):
            changed = batch.rows[queries]
            outputs = _swept(trained, batch, queries, values)
            copy = torch.arange(len(queries), device=trained.device)
            predictions[changed] = outputs[copy, :, queries]
            change = outputs.amax(1) - outputs.amin(1)  # (queries, n)
            change[copy, queries] = 0.0
            others[changed] = change.amax(1)
    chosen = torch.as_tensor(rows, device=trained.device)
    target = trained.data.target
    statistics = trained.statistics
    return Intervention(
        values=statistics.original(_numpy(values), target),
        predictions=statistics.original(_numpy(predictions[chosen]), target),
        others=_numpy(others[chosen]) * statistics.scale[target],
    )


def _values(trained: TrainedNPT, sweep: int) -> torch.Tensor:
    """Standardised values (K,) from the largest target of the table to the smallest."""
    targets = trained.data.targets
    known = targets.numbers[~targets.missing]
    largest = float(known.max())
    smallest = float(known.min())
    return torch.linspace(
        largest,
        smallest,
        sweep,
        device=trained.device,
    )


def _swept(
    trained: TrainedNPT,
    batch: QueryBatch,
    queries: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """Outputs (queries, K, n) of all n originals for each duplicate and value."""
    originals = len(batch.rows)
    copies = len(queries) * len(values)
    inputs = _with_targets(
        batch.inputs,
        originals + queries,
        values,
        trained.data.target,
    )
    predicted = torch.arange(originals, device=trained.device)
    with evaluating(trained.settings, trained.device):
        outputs = trained.model.predict_target(inputs, predicted.expand(copies, -1))
    numbers = outputs[..., 0].float()
    return numbers.view(len(queries), len(values), originals)


def _with_targets(
    inputs: ModelInput,
    indices: torch.Tensor,
    values: torch.Tensor,
    target: int,
) -> ModelInput:
    """A copy of the input for each row index and value, in which the row's target has the value."""
    copies = len(indices) * len(values)
    scale = inputs.scale.expand(copies, -1, -1).clone()
    copy = torch.arange(copies, device=indices.device)
    changed = indices.repeat_interleave(len(values))
    scale[copy, changed, target] = values.repeat(len(indices)).to(scale.dtype)
    codes = inputs.codes.expand(copies, -1, -1)
    mask = inputs.mask.expand(copies, -1, -1)
    return ModelInput(codes, scale, mask)


def _numpy(values: torch.Tensor) -> np.ndarray:
    return values.double().cpu().numpy()
