"""Corruption and its doses (paper section 4.3, Algorithm 1): does a prediction change when the other rows are spoilt?"""

from __future__ import annotations

import numpy as np
import torch

from npt.interface import Prediction
from npt.nn.device import evaluating
from npt.nn.learner import NPTLearner
from npt.nn.query_batches import asked_batches, copies_at_once
from npt.perturbation import Perturbation


def perturbed_predictions(
    learner: NPTLearner, rows: np.ndarray, perturbation: Perturbation, seed: int
) -> Prediction:
    """Predict each of `rows`, test rows, from its batch with the other rows disturbed.

    Each has a copy of its batch with draws of its own; value and mask channel of a cell move together, and the row itself stays
    as it is. Several copies make one forward pass, which gives what one at a time would.
    """
    data, device = learner.data, learner.data.codes.device
    outputs = torch.full(
        (len(data.part), learner.model.layout.sizes[learner.model.layout.target]),
        torch.nan,
        device=device,
    )
    for batch in asked_batches(learner, rows):
        numbers = batch.rows.tolist()
        for asked in batch.asked.split(copies_at_once(learner, batch.shape[0])):
            sources = [
                perturbation.sources(seed, numbers[place], place, batch.shape)
                for place in asked.tolist()
            ]
            copies = batch.cells.gather_rows(torch.from_numpy(np.stack(sources)).to(device))
            first = torch.zeros(len(asked), 1, dtype=torch.long, device=device)
            with evaluating(learner.settings, device):
                outputs[batch.rows[asked]] = learner.model.predict_target(copies, first)[:, 0].to(
                    outputs.dtype
                )
    return learner.decode(outputs[torch.as_tensor(rows, device=device)])
