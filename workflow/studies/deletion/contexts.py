"""Predictions of query rows in reduced contexts, several in one forward pass."""

from __future__ import annotations

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch
from npt.nn.trained import TrainedNPT

SIMILAR = 0.8  # least length of a context, in lengths of the longest, to share a pass with it


def predict_in_contexts(
    trained: TrainedNPT,
    batch: QueryBatch,
    contexts: list[np.ndarray],
) -> np.ndarray:
    """Prediction for the first row of every context; a context is a list of indices in the batch.

    Contexts of similar length share a forward pass.
    """
    lengths = np.array([len(context) for context in contexts])
    predictions: dict[int, np.ndarray] = {}
    waiting = np.argsort(-lengths, kind="stable")
    while len(waiting):
        similar = lengths[waiting] >= SIMILAR * lengths[waiting[0]]
        together = waiting[similar].tolist()
        padded = [contexts[index] for index in together]
        values = _padded(trained, batch, padded)
        predictions.update(zip(together, values, strict=True))
        waiting = waiting[len(together) :]
    return np.stack([predictions[index] for index in range(len(contexts))])


def _padded(
    trained: TrainedNPT,
    batch: QueryBatch,
    contexts: list[np.ndarray],
) -> np.ndarray:
    """One pass over contexts that are padded to the length of the first."""
    longest = len(contexts[0])
    columns = batch.shape[1]
    indices = np.zeros((len(contexts), longest), np.int64)
    present = np.zeros((len(contexts), longest), bool)
    for line, context in enumerate(contexts):
        indices[line, : len(context)] = context
        present[line, : len(context)] = True
    device = trained.device
    rows = torch.from_numpy(indices).to(device)
    inputs = batch.inputs.gather_rows(rows[..., None].expand(-1, -1, columns))
    mask = None
    if not present.all():
        mask = torch.from_numpy(present).to(device)
    first = torch.zeros_like(rows[:, :1])
    with evaluating(trained.settings, device):
        outputs = trained.model.predict_target(inputs, first, mask)
    return trained.decode(outputs[:, 0]).values
