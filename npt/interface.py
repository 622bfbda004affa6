"""The contract between data, learners and the evaluator: numpy and the standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from npt.table import Split, Table


@dataclass(frozen=True)
class Prediction:
    """Class probabilities (n, C), or target values (n,) in original units."""

    values: np.ndarray


@dataclass(frozen=True)
class Trial:
    """One configuration of a search.

    Attributes:
        parameters: Hyper-parameters of the configuration.
        validation_loss: Not finite if the configuration failed.
        reason: Why it failed; empty if it did not.
        fit: Number of the model that was trained for it, from 1. Configurations with equal
            numbers shared a model. 0 if none was trained.
        seconds: Time of training that model, and of scoring what shares it.
    """

    parameters: Mapping[str, Any]
    validation_loss: float
    reason: str
    fit: int
    seconds: float


@dataclass(frozen=True)
class Fit:
    """Summary of a training.

    Attributes:
        chosen: Hyper-parameters of the final model that a search or the training chose.
        validation_loss: Validation loss of the final model.
        fits: Number of models that were trained.
        parameters: Number of weights of NPTs and processes.
        earlier_seconds: Training time before an interruption.
        trials: Configurations that a search tried, in the order of its grid.
        grid: Number of configurations in the grid.
        models: Number of distinct models among the trials.
    """

    chosen: Mapping[str, Any]
    validation_loss: float
    fits: int
    parameters: int | None = None
    earlier_seconds: float = 0.0
    trials: Sequence[Trial] = ()
    grid: int | None = None
    models: int | None = None


class TrainedModel(Protocol):
    """What a learner has trained, or what is loaded from its weights."""

    @property
    def device(self) -> object:
        """Torch device, or its name."""

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict validation or test rows of the table that the model was trained on."""
        ...


class Learner(TrainedModel, Protocol):
    """A method of the benchmark, NPT or a baseline, which predicts after `fit`."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train on a blind table: the targets of the test rows are missing."""
        ...


@dataclass(frozen=True)
class Resources:
    """What a learner may use.

    Attributes:
        threads: CPU threads.
        device: `auto`, `cpu` or a torch device such as `cuda:0`.
        checkpoint: File for the state of a long training or search, from which it resumes.
        checkpoint_minutes: Time between two writes of the checkpoint.
        metrics: CSV file for metrics during the training.
    """

    threads: int = 1
    device: str = "auto"
    checkpoint: Path | None = None
    checkpoint_minutes: float = 10.0
    metrics: Path | None = None
