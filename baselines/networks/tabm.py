"""The training of TabM: each member learns alone, the mean of all predicts."""

from __future__ import annotations

import numpy as np
import torch
from rtdl_num_embeddings import PiecewiseLinearEmbeddings, compute_bins
from tabm import TabM
from torch import Tensor
from torch.nn import functional

from baselines.baseline import Predictor
from baselines.grids import Parameters
from baselines.networks.training import SILENT, EpochTraining, tensor
from baselines.training_data import TrainingData

PREDICTED_ROWS = 4096  # predicted together


def fit_tabm(data: TrainingData, parameters: Parameters, device: torch.device) -> Predictor:
    """Train on the train rows, stop on the validation rows, and return the function that predicts.

    Args:
        parameters: All of `TabM.defaults`.
    """
    inputs = Inputs(data)
    network = _network(inputs, data, parameters).to(device)
    train = tensor(data.train_features, device)
    labels = torch.as_tensor(data.train_labels, device=device)

    def loss_of(batch: Tensor) -> Tensor:
        outputs = network(*inputs.split(train[batch]))  # (n, members, K)
        members = outputs.shape[1]
        member_labels = labels[batch].repeat_interleave(members)
        outputs = outputs.flatten(0, 1)
        if data.is_regression:
            return functional.mse_loss(outputs[:, 0], member_labels.float())
        return functional.cross_entropy(outputs, member_labels)

    @torch.no_grad()
    def predict(features: np.ndarray, parameters: Parameters) -> np.ndarray:
        predictions = []
        for rows in tensor(features, device).split(PREDICTED_ROWS):
            outputs = network(*inputs.split(rows)).double()
            if not data.is_regression:
                outputs = outputs.softmax(-1)
            predictions.append(outputs.mean(1))
        return torch.cat(predictions).cpu().numpy()

    EpochTraining(network, data, loss_of, predict, parameters).run(follow=SILENT)
    return predict


class Inputs:
    """Numbers and categories of rows as the network takes them.

    Numbers that do not vary over the train rows are left out, because they have no bins.

    Attributes:
        numeric: Indices of the numbers.
        categorical: Indices of the categories.
    """

    def __init__(self, data: TrainingData) -> None:
        self.categorical = list(data.categorical)
        varies = np.ptp(data.train_features, axis=0) > 0
        varies[self.categorical] = False
        self.numeric = np.flatnonzero(varies).tolist()

    def split(self, features: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Numbers (n, d) and codes (n, c) of features (n, F); None if there are none."""
        numbers = features[:, self.numeric] if self.numeric else None
        codes = features[:, self.categorical].long() if self.categorical else None
        return numbers, codes


def _network(inputs: Inputs, data: TrainingData, parameters: Parameters) -> TabM:
    embeddings = None
    most = min(parameters["bins"], len(data.train) - 1)
    if inputs.numeric and most > 1:
        numbers = torch.as_tensor(data.train_features[:, inputs.numeric], dtype=torch.float32)
        embeddings = PiecewiseLinearEmbeddings(
            compute_bins(numbers, n_bins=most),
            parameters["embedding"],
            activation=False,
            version="B",
        )
    return TabM.make(
        n_num_features=len(inputs.numeric),
        cat_cardinalities=list(data.sizes),
        num_embeddings=embeddings,
        d_out=data.trained_classes or 1,
        k=parameters["members"],
        d_block=parameters["width"],
        n_blocks=parameters["layers"],
        dropout=parameters["dropout"],
    )
