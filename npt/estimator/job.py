"""What an architecture is fitted on, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from npt.errors import UserError
from npt.estimator.explanation import Attention
from npt.estimator.state import ModelState
from npt.interface import Resources
from npt.table import Split, Table

NO_ROWS = np.array([], dtype=np.int64)


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
    resources: Resources
    refit: bool
    visible: bool | None


class Model(Protocol):
    """A fitted network with the rows that others attend to."""

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict the rows (n) of another table: values (n,), or probabilities (n, C).

        Args:
            together: Whether the rows attend to each other, in the exact NPT.
        """
        ...

    @property
    def rows(self) -> np.ndarray:
        """Row numbers (m,) of the context in the table of the fit."""
        ...

    @property
    def targets(self) -> np.ndarray:
        """Their targets (m,): values, or codes of classes."""
        ...

    def explain(self, table: Table, count: int) -> Attention:
        """Attention of the rows (n) of another table, and predictions without `count` rows each.

        Raises:
            UserError: The model explains nothing.
        """
        ...

    def state(self) -> ModelState:
        """All that predictions depend on."""
        ...

    @classmethod
    def of_state(cls, state: ModelState) -> Self:
        """The model of a `state`, whose predictions are bit-identical on the same device."""
        ...


@dataclass(frozen=True)
class Outcome:
    """A fitted model.

    Attributes:
        validation_loss: Its loss on the validation rows, before it was trained again.
        best_updates: Updates of each member that its weights come from.
    """

    model: Model
    validation_loss: float
    best_updates: list[int]


def require_alone(together: bool) -> None:
    """Refuse to predict new rows that attend to each other."""
    if together:
        raise UserError("predict_together: True; only rows of the exact NPT attend to each other")


def require_converged(losses: Iterable[float]) -> None:
    """Refuse a training that has no finite validation loss.

    Raises:
        UserError: It has none.
    """
    if not all(math.isfinite(loss) for loss in losses):
        raise UserError(
            "training diverged: no finite validation loss; a smaller learning_rate may help"
        )
