"""Forecast of the work of a training: what the declaration of a method with weights states."""

from __future__ import annotations

from dataclasses import dataclass

TRAINING = 3  # passes that cost as much as a training step; a backward one costs twice a forward
FLOAT = 4  # bytes


@dataclass(frozen=True)
class TableSize:
    """Sizes of a table on which the work depends.

    Attributes:
        rows: All rows.
        columns: All columns, the target included.
        train_rows: Rows of a training set.
        pixels: Height and width, of a dataset of images.
    """

    rows: int
    columns: int
    train_rows: int
    pixels: tuple[int, int] | None = None

    @property
    def cells(self) -> int:
        """Cells of the table."""
        return self.rows * self.columns


@dataclass(frozen=True)
class Workload:
    """Work of one training and of its probes; a multiply-add counts two operations.

    Attributes:
        update_flop: Operations of a training step.
        training_flop: Operations of a training with its evaluations on validation rows.
        query_flop: Operations of predicting one row in a context of its own.
        memory_mb: Largest memory of a training in megabytes, its libraries left out.
    """

    update_flop: float
    training_flop: float
    query_flop: float
    memory_mb: float
