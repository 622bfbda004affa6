"""Train a network of a baseline in minibatches, stopped early on the validation rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from baselines.baseline import Predictor
from baselines.grids import Parameters
from baselines.training_data import TrainingData
from npt.errors import UserError
from npt.nn.engine import Training
from npt.nn.optimiser import Adam

PREDICTED_ROWS = 1024  # predicted together


class EpochTraining(Training):
    """AdamW, until `patience` epochs in succession have not lowered the validation loss.

    Batches with fewer rows are left out: batch normalisation cannot take a single one. Random
    numbers are those of PyTorch's global generator.

    Args:
        network: Ends in evaluation mode, with the weights of its best epoch.
        data: Train and validation rows.
        loss_of: Loss of a batch, given as indices of train rows.
        predictor: Uses the network, in evaluation mode.
        parameters: `learning_rate`, `batch_size`, `max_epochs`, `patience`, and `weight_decay` if
            there is any.
        fewest_rows: Fewest rows of a batch.

    Raises:
        UserError: `batch_size` is smaller.
    """

    def __init__(
        self,
        network: nn.Module,
        data: TrainingData,
        loss_of: Callable[[Tensor], Tensor],
        predictor: Predictor,
        parameters: Parameters,
        fewest_rows: int = 2,
    ) -> None:
        decay = parameters.get("weight_decay", 0.0)
        optimiser = Adam(network.parameters(), weight_decay=decay)
        super().__init__(network, optimiser, parameters["max_epochs"])
        if parameters["batch_size"] < fewest_rows:
            raise UserError(
                f"batch_size: {parameters['batch_size']}; allowed: at least {fewest_rows}"
            )
        self.data = data
        self.loss_of = loss_of
        self.predictor = predictor
        self.parameters = parameters
        self.fewest_rows = fewest_rows

    def update(self, number: int) -> float:
        """One epoch; the loss of its last batch."""
        self.model.train()
        loss = torch.zeros(())
        for batch in torch.randperm(len(self.data.train)).split(self.parameters["batch_size"]):
            if len(batch) >= self.fewest_rows:
                self.model.zero_grad()
                loss = self.loss_of(batch)
                loss.backward()
                self.optimiser.step(self.parameters["learning_rate"])
        return float(loss.detach())

    def evaluate(self, number: int, loss: float | Tensor) -> dict[str, float]:
        """The loss on the validation rows; the training ends where it has not fallen for long."""
        self.model.eval()
        with torch.no_grad():
            features = self.data.features[self.data.validation]
            predicted = self.predictor(features, self.parameters)
        validation_loss = self.data.validation_loss(predicted)
        self.offer([validation_loss])
        waited = number - self.best_updates[0]
        self.is_finished = waited >= max(1, self.parameters["patience"])
        return {"update": number, "validation_loss": validation_loss}


def tensor(values: np.ndarray, device: torch.device) -> Tensor:
    """Values on a device in single precision."""
    return torch.as_tensor(values, dtype=torch.float32, device=device)


@torch.no_grad()
def predicted_by_part(
    features: np.ndarray, device: torch.device, network: Callable[[Tensor], Tensor]
) -> np.ndarray:
    """What a network returns for features (n, F), a part at a time."""
    parts = tensor(features, device).split(PREDICTED_ROWS)
    return torch.cat(list(map(network, parts))).double().cpu().numpy()
