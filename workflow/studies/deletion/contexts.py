"""Predictions of query rows in reduced contexts, several in one forward pass."""

from __future__ import annotations

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch
from npt.nn.trained import TrainedNPT

SIMILAR = 0.8  # least length of a context, in lengths of the longest, to share a pass with it


def predict_in_contexts(
    trained: TrainedNPT, batch: QueryBatch, contexts: list[np.ndarray]
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
        values = _padded(trained, batch, [contexts[index] for index in together])
        predictions.update(zip(together, values, strict=True))
        waiting = waiting[len(together) :]
    return np.stack([predictions[index] for index in range(len(contexts))])


def _padded(trained: TrainedNPT, batch: QueryBatch, contexts: list[np.ndarray]) -> np.ndarray:
    """One pass over contexts that are padded to the length of the first."""
    longest = len(contexts[0])
    indices = np.zeros((len(contexts), longest), np.int64)
    for line, context in zip(indices, contexts, strict=True):
        line[: len(context)] = context
    device = trained.device
    rows = torch.from_numpy(indices).to(device)[..., None]
    inputs = batch.inputs.gather_rows(rows.expand(-1, -1, batch.shape[1]))
    lengths = torch.tensor([len(context) for context in contexts], device=device)
    present = torch.arange(longest, device=device) < lengths[:, None]
    mask = None if bool(present.all()) else present
    first = torch.zeros(len(contexts), 1, dtype=torch.long, device=device)
    with evaluating(trained.settings, device):
        outputs = trained.model.predict_target(inputs, first, mask)
    return trained.decode(outputs[:, 0]).values
