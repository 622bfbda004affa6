"""A fitted model as facts and arrays: what pickle and `save` keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from npt.estimator.hyperparameters import ArchitectureName
from npt.nn.trained_network import weights_of
from npt.table import Column, Kind
from npt.validation import Strict

WEIGHTS = "weights/"


class ColumnFacts(Strict):
    """A column of a table."""

    name: str
    kind: Kind
    levels: list[str]


class ModelFacts(Strict):
    """All of a model but its arrays.

    Attributes:
        settings: Fields of the architecture's settings.
        device: Device that it was on.
        columns: Columns of its table, the target last.
    """

    architecture: ArchitectureName
    settings: dict[str, Any]
    seed: int
    device: str
    columns: list[ColumnFacts]


@dataclass(frozen=True)
class ModelState:
    """Facts, and arrays by name."""

    facts: ModelFacts
    arrays: Mapping[str, np.ndarray]


def column_facts(columns: Sequence[Column]) -> list[ColumnFacts]:
    """Facts of columns."""
    facts = []
    for column in columns:
        facts.append(ColumnFacts(name=column.name, kind=column.kind, levels=list(column.levels)))
    return facts


def columns_of(facts: ModelFacts) -> tuple[Column, ...]:
    """The columns of facts."""
    columns = []
    for column in facts.columns:
        columns.append(Column(column.name, column.kind, tuple(column.levels)))
    return tuple(columns)


def weight_arrays(model: nn.Module) -> dict[str, np.ndarray]:
    """Weights and buffers of a network."""
    arrays = {}
    for name, tensor in weights_of(model).items():
        arrays[WEIGHTS + name] = tensor.numpy()
    return arrays


def load_weights(model: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Set the weights and buffers of a network.

    Raises:
        RuntimeError: Their names or shapes are others.
    """
    weights = {}
    for name, array in arrays.items():
        if name.startswith(WEIGHTS):
            weights[name.removeprefix(WEIGHTS)] = torch.from_numpy(array.copy())
    model.load_state_dict(weights)


def present_device(name: str) -> torch.device:
    """A device if this machine has it, or else the CPU."""
    device = torch.device(name)
    if device.type != "cuda":
        return device
    if (device.index or 0) < torch.cuda.device_count():
        return device
    return torch.device("cpu")
