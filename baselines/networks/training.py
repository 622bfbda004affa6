"""Train a network of a baseline in minibatches, stopped early on the validation rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def train_network(
    network: nn.Module,
    rows: int,
    loss_of: Callable[[Tensor], Tensor],
    validation_loss: Callable[[], float],
    parameters: Mapping[str, Any],
) -> None:
    """AdamW, until `patience` epochs in succession have not lowered the validation loss.

    A last batch of a single row is left out, which batch normalisation cannot take. The network
    ends in evaluation mode, with the weights of its best epoch. Random numbers are those of
    PyTorch's global generator.

    Args:
        rows: Number of train rows.
        loss_of: Loss of a batch, given as indices of train rows.
        validation_loss: Loss on the validation rows, in evaluation mode.
        parameters: `learning_rate`, `weight_decay`, `batch_size`, `max_epochs` and `patience`.
    """
    optimiser = torch.optim.AdamW(
        network.parameters(),
        lr=parameters["learning_rate"],
        weight_decay=parameters["weight_decay"],
    )
    lowest = float("inf")
    best = copy.deepcopy(network.state_dict())
    waited = 0
    for _ in range(parameters["max_epochs"]):
        network.train()
        for batch in torch.randperm(rows).split(parameters["batch_size"]):
            if len(batch) == 1:
                continue
            optimiser.zero_grad()
            loss_of(batch).backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            loss = validation_loss()
        waited += 1
        if loss < lowest:
            lowest = loss
            best = copy.deepcopy(network.state_dict())
            waited = 0
        elif waited >= parameters["patience"]:
            break
    network.load_state_dict(best)
    network.eval()
