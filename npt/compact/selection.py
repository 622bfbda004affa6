"""What is chosen on validation rows after a training: copying, and weights of the members.

K members, n validation rows, C length of a label.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from npt.compact.copying import REACHES, mean_distance, moved
from npt.compact.data import known_rows
from npt.compact.ensemble import combined, greedy_weights, kind_weights, loss, row_losses
from npt.compact.model import chunk_size
from npt.compact.trained import TrainedCompactNPT


def weighted_by_validation(
    trained: TrainedCompactNPT,
    rows: np.ndarray,
) -> tuple[TrainedCompactNPT, float]:
    """The ensemble with the copying and the weights that its settings name, and its loss.

    A regression's loss is in units of the target's variance.
    """
    rows = known_rows(trained.table, rows)
    trained, outputs = with_copying(trained, rows)
    truth = trained.table.truth[rows]
    members = trained.of_members(outputs)
    settings = trained.settings
    if settings.average == "greedy":
        weights = greedy_weights(trained.task, truth, members)
        trained = replace(trained, weights=weights)
    elif settings.average == "kinds":
        weights = kind_weights(trained.task, truth, members, settings.kinds)
        trained = replace(trained, weights=weights)
    validation_loss = loss(trained.task, truth, combined(members, trained.weights))
    if trained.task == "regression":
        validation_loss /= trained.encoder.scale[-1] ** 2
    return trained, validation_loss


def with_copying(
    trained: TrainedCompactNPT,
    rows: np.ndarray,
) -> tuple[TrainedCompactNPT, Tensor]:
    """The network with the reach of copying that lowers the loss on validation rows most.

    It copies nothing if no reach lowers the loss by more than a standard error.

    Returns:
        The network, and its outputs (K, n, C) for the rows.
    """
    if not _can_copy(trained):
        return trained, trained.outputs_of(rows)
    unit = mean_distance(trained.encoded_context).float()  # as the network keeps it
    reaches = [factor * unit for factor in REACHES]
    alone, *copied = _outputs_by_reach(trained, rows, reaches)
    truth = trained.table.truth[rows]
    before = row_losses(trained.task, truth, trained.decode(alone).values)
    best_reach = None
    best_outputs = alone
    largest_gain = 0.0
    for reach, outputs in zip(reaches, copied, strict=True):
        losses = row_losses(trained.task, truth, trained.decode(outputs).values)
        gains = before - losses
        error = gains.std() / np.sqrt(len(gains))
        if gains.mean() > max(error, largest_gain):
            best_reach = reach
            best_outputs = outputs
            largest_gain = gains.mean()
    if best_reach is None:
        return trained, alone
    model = copy.deepcopy(trained.model)
    model.reach.copy_(best_reach)
    return replace(trained, model=model), best_outputs


def _can_copy(trained: TrainedCompactNPT) -> bool:
    """Whether there is something to copy: labels of others, but for those of duplicates."""
    settings = trained.settings
    sees_labels = settings.labels_of_others and settings.between_datapoints
    has_others = len(trained.context_rows) > 1 and settings.lookup == "off"
    return settings.copies and sees_labels and has_others


@torch.no_grad()
def _outputs_by_reach(
    trained: TrainedCompactNPT,
    rows: np.ndarray,
    reaches: list[Tensor],
) -> list[Tensor]:
    """Outputs (K, n, C) of rows without copying, then with each reach (K,)."""
    model = trained.precise
    context = trained.context
    residuals = model.residuals(trained.encoded_context, trained.context_labels, context)
    size = chunk_size(context)
    parts = []
    for start in range(0, len(rows), size):
        encoded = trained.encoded(rows[start : start + size])
        alone = model.attended(encoded, context)
        copied = [moved(alone, encoded, residuals, reach) for reach in reaches]
        parts.append([alone, *copied])
    return [torch.cat(of_reach, 1) for of_reach in zip(*parts, strict=True)]
