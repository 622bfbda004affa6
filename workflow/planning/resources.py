"""Memory and time that jobs ask for: plain defaults of a rule, which grow with every attempt.

A profile replaces them with `set-resources`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

READING_MB = 500  # a Python process with its libraries
FITTING_MB = 1200  # the same with a fitted model
TRAINING_MB = 3000  # the same with a network, its activations and its attention
CELL_BYTES = 100  # of a table that is prepared, encoded or fitted
ROW_BYTES = 20_000  # of a collected row
MEGABYTE = 1_000_000
MOST_MINUTES = 2_880


def table_memory(cells: int, attempt: int, *, trains: bool = False) -> int:
    """Megabytes of preparing a table, fitting a baseline to it, or training a network."""
    megabytes = TRAINING_MB if trains else FITTING_MB
    return (megabytes + CELL_BYTES * cells // MEGABYTE) * 2 ** (attempt - 1)


def reading_memory(rows: int, attempt: int) -> int:
    """Megabytes of collecting or showing rows."""
    return (READING_MB + ROW_BYTES * rows // MEGABYTE) * 2 ** (attempt - 1)


def growing_minutes(first: int) -> Callable[[Any, int], int]:
    """Time limit by attempt, at most two days; trainings and searches resume at the next one."""

    def limit(wildcards: Any, attempt: int) -> int:
        return min(MOST_MINUTES, first * attempt)

    return limit
