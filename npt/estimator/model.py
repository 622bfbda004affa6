"""A fitted model of an estimator: what it is fitted on, what it predicts, what is saved of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from npt.errors import UserError
from npt.estimator.hyperparameters import SETTINGS, ArchitectureName
from npt.nn.device import is_here
from npt.nn.trained_network import TrainedNetwork
from npt.table import Column, Split, Table
from npt.validation import Strict, validated

NO_ROWS = np.array([], dtype=np.int64)
WEIGHTS = "weights/"
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Job:
    """A fit.

    Attributes:
        table: Train and validation rows (N), the target last.
        split: Which are which.
        weights: Weight of every row (N,); None weighs all alike.
        refit: Whether to train again on all rows.
        visible: Whether there is a progress bar; None if standard error is a terminal.
    """

    table: Table
    split: Split
    weights: np.ndarray | None
    seed: int
    device: torch.device
    refit: bool
    visible: bool | None


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
    columns: tuple[Column, ...]
    validation_loss: float
    best_updates: list[int]

    @property
    def present_device(self) -> torch.device:
        """The device if this machine has it, or else the CPU."""
        device = torch.device(self.device)
        return device if is_here(device) else torch.device("cpu")


@dataclass
class Model(ABC):
    """A fitted network with the rows that others attend to.

    Attributes:
        trained: The network, with its `settings`, `seed` and `device`.
        table: Table of the rows that it keeps, the target last.
        validation_loss: Its loss on the validation rows, before it was trained again; of solved
            NPT, the leave-one-out loss.
        best_updates: Updates of each member that its weights come from.
        rows: Row numbers (m,) of the context in the table of the fit.
    """

    architecture: ClassVar[ArchitectureName]

    trained: Any
    table: Table
    rows: np.ndarray
    validation_loss: float
    best_updates: list[int]

    @classmethod
    @abstractmethod
    def fit(cls, job: Job, settings: Any) -> Self:
        """Fit a model.

        Raises:
            UserError: The architecture cannot do what the job says, or the fit failed.
        """

    @abstractmethod
    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict the rows (n) of another table: values (n,), or probabilities (n, C).

        Args:
            together: Whether the rows attend to each other, in the exact NPT.
        """

    @property
    def targets(self) -> np.ndarray:
        """Targets (m,) of the context: values, or codes of classes."""
        raise NotImplementedError

    def attention(self, table: Table) -> np.ndarray:
        """Attention (n, m) of the rows (n) of another table, which sums to 1.

        Raises:
            UserError: The model does not explain its predictions.
        """
        raise UserError("explain: not of this architecture; allowed: compact, solved")

    def without(self, table: Table, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Predictions of the rows (n), each without rows (n, k) of the context."""
        raise NotImplementedError

    def with_rows(self, table: Table) -> Model:
        """The same model, with everything that it has learned, whose context is a table's rows."""
        raise UserError("with_rows: not of this architecture; allowed: compact, solved")

    def state(self) -> tuple[ModelFacts, Arrays]:
        """All that predictions depend on, for pickle and `save`: facts, and arrays by name."""
        facts = ModelFacts(
            architecture=self.architecture,
            settings=self.trained.settings.model_dump(),
            seed=self.trained.seed,
            device=str(self.trained.device),
            columns=self.table.columns,
            validation_loss=self.validation_loss,
            best_updates=self.best_updates,
        )
        kept = {"table": self.table.values, "rows": self.rows}
        return facts, {**self.arrays(), **kept}

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays of the network by name."""

    @classmethod
    @abstractmethod
    def restored(cls, settings: Any, facts: ModelFacts, arrays: Arrays, **fields: Any) -> Self:
        """The model of a `state`, whose predictions are bit-identical on the same device.

        Args:
            fields: `table`, `rows`, `validation_loss` and `best_updates` of the model.
        """

    @classmethod
    def from_state(cls, facts: ModelFacts, arrays: Arrays) -> Self:
        """See `restored`."""
        return cls.restored(
            validated(SETTINGS[cls.architecture], facts.settings, "settings"),
            facts,
            arrays,
            table=Table.from_values(facts.columns, arrays["table"], len(facts.columns) - 1),
            rows=arrays["rows"],
            validation_loss=facts.validation_loss,
            best_updates=facts.best_updates,
        )

    def __getstate__(self) -> tuple[ModelFacts, Arrays]:
        return self.state()

    def __setstate__(self, state: tuple[ModelFacts, Arrays]) -> None:
        vars(self).update(vars(self.from_state(*state)))


def require_converged(losses: Tensor) -> None:
    """Refuse a training that has no finite validation loss.

    Raises:
        UserError: It has none.
    """
    if not losses.isfinite().all():
        raise UserError(
            "training diverged: no finite validation loss; a smaller learning_rate may help"
        )


def weight_arrays(trained: TrainedNetwork) -> dict[str, np.ndarray]:
    """Weights and buffers of a network, which `tensors_of` finds by the prefix `WEIGHTS`."""
    return {WEIGHTS + name: tensor.numpy() for name, tensor in trained.weights().items()}


def tensors_of(arrays: Arrays, prefix: str) -> dict[str, Tensor]:
    """Arrays whose names have a prefix, as tensors by name without it."""
    tensors = {}
    for name, array in arrays.items():
        if name.startswith(prefix):
            tensors[name.removeprefix(prefix)] = torch.from_numpy(array.copy())
    return tensors
