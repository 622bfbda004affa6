"""What is chosen on validation rows after a training: how far to copy.

n validation rows.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from npt.compact.copying import REACHES, mean_distance
from npt.compact.data import known_rows
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
    best = trained
    before = lowest = _row_losses(trained, rows)
    largest_gain = 0.0
    if settings.copies and sees_labels and has_others:
        unit = mean_distance(trained.encoded_context)
        for factor in REACHES:
            model = copy.deepcopy(trained.model)
            model.reach.copy_(factor * unit.float())
            copying = replace(trained, model=model)
            losses = _row_losses(copying, rows)
            gains = before - losses
            error = gains.std() / np.sqrt(len(gains))
            if gains.mean() > max(error, largest_gain):
                best = copying
                lowest = losses
                largest_gain = gains.mean()
    unit_of_loss = trained.statistics.scale[trained.target] ** 2
    return best, float(lowest.mean() / unit_of_loss)


def _row_losses(trained: TrainedCompactNPT, rows: np.ndarray) -> np.ndarray:
    """Squared error, or negative log-likelihood (n,) of each row."""
    truth = trained.table.truth[rows]
    predicted = trained.predict(rows).values
    if trained.task == "regression":
        return (predicted - truth) ** 2
    return negative_log_likelihoods(truth, predicted)
