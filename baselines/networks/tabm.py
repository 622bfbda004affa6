"""The training of TabM: each member learns alone, the mean of all predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from rtdl_num_embeddings import PiecewiseLinearEmbeddings, compute_bins
from tabm import TabM
from torch import Tensor
from torch.nn import functional

from baselines.networks.training import SILENT, EpochTraining
from baselines.training_data import TrainingData

PREDICTED_ROWS = 4096  # predicted together


def fit_tabm(
    data: TrainingData, parameters: Mapping[str, Any], device: torch.device
) -> Callable[[np.ndarray], np.ndarray]:
    """Train on the train rows, stop on the validation rows, and return the function that predicts.

    Args:
        parameters: All of `TabM.defaults`.
    """
    inputs = Inputs(data, device)
    network = _network(inputs, data, parameters).to(device)
    numbers, codes = inputs.tensors(data.train_features)
    labels = torch.as_tensor(data.train_labels, device=device)

    def loss_of(batch: Tensor) -> Tensor:
        outputs = network(_rows(numbers, batch), _rows(codes, batch))  # (n, members, K)
        members = outputs.shape[1]
        member_labels = labels[batch].repeat_interleave(members)
        outputs = outputs.flatten(0, 1)
        if data.is_regression:
            return functional.mse_loss(outputs[:, 0], member_labels.float())
        return functional.cross_entropy(outputs, member_labels)

    def predict(features: np.ndarray) -> np.ndarray:
        numbers, codes = inputs.tensors(features)
        predictions = []
        with torch.no_grad():
            for rows in torch.arange(len(features), device=device).split(PREDICTED_ROWS):
                outputs = network(_rows(numbers, rows), _rows(codes, rows)).double()
                if not data.is_regression:
                    outputs = outputs.softmax(-1)
                predictions.append(outputs.mean(1))
        return torch.cat(predictions).cpu().numpy()

    def validation_loss() -> float:
        predicted = predict(data.features[data.validation])
        return data.validation_loss(data.over_all_classes(predicted))

    rows = len(data.train)
    EpochTraining(network, rows, loss_of, validation_loss, parameters).run(follow=SILENT)
    return predict


class Inputs:
    """Numbers and categories of rows as the network takes them.

    Numbers that do not vary over the train rows are left out, because they have no bins.

    Attributes:
        numeric: Indices of the numbers.
        train: Numbers (m, d) of the train rows.
        sizes: Numbers of codes of the categories.
    """

    def __init__(self, data: TrainingData, device: torch.device) -> None:
        features = data.train_features
        categorical = set(data.categorical)
        numeric = []
        for index in range(features.shape[1]):
            if index not in categorical and len(np.unique(features[:, index])) > 1:
                numeric.append(index)
        self.numeric = numeric
        self.categorical = list(data.categorical)
        self.sizes = list(data.sizes)
        self.device = device
        self.train = torch.as_tensor(features[:, numeric], dtype=torch.float32)

    def tensors(self, features: np.ndarray) -> tuple[Tensor | None, Tensor | None]:
        """Numbers (n, d) and codes (n, c) of rows; None if there are none."""
        numbers = codes = None
        if self.numeric:
            values = features[:, self.numeric]
            numbers = torch.as_tensor(values, dtype=torch.float32, device=self.device)
        if self.categorical:
            values = features[:, self.categorical].astype(np.int64)
            codes = torch.as_tensor(values, device=self.device)
        return numbers, codes


def _network(inputs: Inputs, data: TrainingData, parameters: Mapping[str, Any]) -> TabM:
    embeddings = None
    most = min(parameters["bins"], len(inputs.train) - 1)
    if inputs.numeric and most > 1:
        bins = compute_bins(inputs.train, n_bins=most)
        embeddings = PiecewiseLinearEmbeddings(
            bins,
            parameters["embedding"],
            activation=False,
            version="B",
        )
    return TabM.make(
        n_num_features=len(inputs.numeric),
        cat_cardinalities=inputs.sizes,
        num_embeddings=embeddings,
        d_out=data.outputs,
        k=parameters["members"],
        d_block=parameters["width"],
        n_blocks=parameters["layers"],
        dropout=parameters["dropout"],
    )


def _rows(values: Tensor | None, rows: Tensor) -> Tensor | None:
    return None if values is None else values[rows]
