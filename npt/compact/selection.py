"""What is chosen on validation rows after a training: how far to copy.

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
from npt.compact.model import chunk_size
from npt.compact.trained import TrainedCompactNPT
from npt.likelihood import negative_log_likelihoods


def with_copying(trained: TrainedCompactNPT, rows: np.ndarray) -> tuple[TrainedCompactNPT, float]:
    """The network with the reach of copying that lowers the loss on validation rows most.

    It copies nothing if no reach lowers the loss by more than a standard error.

    Returns:
        The network, and its mean loss: negative log-likelihood, or squared error in units of the
        target's variance.
    """
    rows = known_rows(trained.table, rows)
    settings = trained.settings
    sees_labels = settings.labels_of_others and settings.between_datapoints
    has_others = len(trained.context_rows) > 1 and settings.lookup == "off"
    if settings.copies and sees_labels and has_others:
        unit = mean_distance(trained.encoded_context).float()  # as the network keeps it
        reaches = [factor * unit for factor in REACHES]
        alone, *copied = _outputs_by_reach(trained, rows, reaches)
    else:
        reaches = copied = []
        alone = trained.outputs_of(rows)
    before = best = _row_losses(trained, rows, alone)
    best_reach = None
    largest_gain = 0.0
    for reach, outputs in zip(reaches, copied, strict=True):
        losses = _row_losses(trained, rows, outputs)
        gains = before - losses
        error = gains.std() / np.sqrt(len(gains))
        if gains.mean() > max(error, largest_gain):
            best_reach = reach
            best = losses
            largest_gain = gains.mean()
    if best_reach is not None:
        model = copy.deepcopy(trained.model)
        model.reach.copy_(best_reach)
        trained = replace(trained, model=model)
    unit_of_loss = trained.encoder.scale[-1] ** 2 if trained.task == "regression" else 1.0
    return trained, float(best.mean() / unit_of_loss)


def _row_losses(trained: TrainedCompactNPT, rows: np.ndarray, outputs: Tensor) -> np.ndarray:
    """Squared error, or negative log-likelihood (n,) of each row, by outputs (K, n, C)."""
    truth = trained.table.truth[rows]
    predicted = trained.decode(outputs).values
    if trained.task == "regression":
        return (predicted - truth) ** 2
    return negative_log_likelihoods(truth, predicted)


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
    return [torch.cat(outputs, 1) for outputs in zip(*parts, strict=True)]
