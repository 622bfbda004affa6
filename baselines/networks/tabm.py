"""The training of TabM: each member learns alone, the mean of all predicts."""

from __future__ import annotations

import numpy as np
import torch
from rtdl_num_embeddings import PiecewiseLinearEmbeddings, compute_bins
from tabm import TabM
from torch import Tensor
from torch.nn import functional

from baselines.baseline import Predictor
from baselines.estimators import features_vary, prior
from baselines.grids import Parameters
from baselines.networks.training import EpochTraining, predicted_by_part, tensor
from baselines.training_data import TrainingData


def fit_tabm(data: TrainingData, parameters: Parameters, device: torch.device) -> Predictor:
    """Train on the train rows, stop on the validation rows, and return the function that predicts.

    Args:
        parameters: All of `TabM.defaults`.
    """
    features = data.train_features.astype(np.float32)
    if not features_vary(features):
        return prior(data)
    categorical = list(data.categorical)
    varies = np.ptp(features, axis=0) > 0
    numeric = np.flatnonzero(varies & ~data.is_code).tolist()  # others have no bins
    network = _network(features[:, numeric], data, parameters).to(device)
    train = tensor(features, device)
    labels = torch.as_tensor(data.train_labels, device=device)

    def inputs(features: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Numbers (n, d) and codes (n, c) of features (n, F); None if there are none."""
        numbers = features[:, numeric] if numeric else None
        codes = features[:, categorical].long() if categorical else None
        return numbers, codes

    def loss_of(batch: Tensor) -> Tensor:
        outputs = network(*inputs(train[batch]))  # (n, members, K)
        members = outputs.shape[1]
        member_labels = labels[batch].repeat_interleave(members)
        outputs = outputs.flatten(0, 1)
        if data.is_regression:
            return functional.mse_loss(outputs[:, 0], member_labels.float())
        return functional.cross_entropy(outputs, member_labels)

    def mean_of_members(rows: Tensor) -> Tensor:
        outputs = network(*inputs(rows)).double()
        if not data.is_regression:
            outputs = outputs.softmax(-1)
        return outputs.mean(1)

    def predict(features: np.ndarray, parameters: Parameters) -> np.ndarray:
        return predicted_by_part(features, device, mean_of_members)

    EpochTraining(network, data, loss_of, predict, parameters).run(visible=False)
    return predict


def _network(numbers: np.ndarray, data: TrainingData, parameters: Parameters) -> TabM:
    """A network whose numeric features have the bins of numbers (n, d)."""
    embeddings = None
    most = min(parameters["bins"], len(data.train) - 1)
    count = numbers.shape[1]
    if count and most > 1:
        embeddings = PiecewiseLinearEmbeddings(
            compute_bins(torch.as_tensor(numbers), n_bins=most),
            parameters["embedding"],
            activation=False,
            version="B",
        )
    return TabM.make(
        n_num_features=count,
        cat_cardinalities=list(data.categorical.values()),
        num_embeddings=embeddings,
        d_out=data.trained_classes or 1,
        k=parameters["members"],
        d_block=parameters["width"],
        n_blocks=parameters["layers"],
        dropout=parameters["dropout"],
    )
