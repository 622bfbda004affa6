"""Settings of solved NPT."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from npt.validation import Strict

Positive = Annotated[float, Field(gt=0, le=100)]
Rows = Annotated[int, Field(ge=2)]


class SolvedSettings(Strict):
    """Tuning, heads and sizes; docs/solved.md says how the defaults were chosen."""

    steps: int = Field(default=20, ge=0, le=10_000)
    """Steps of the tuning; with 0, all columns weigh alike."""
    rate: Positive = 0.2
    """First step size of Adam; it falls to 0."""
    pull: float = Field(default=0.02, ge=0, le=100)
    """Penalty of the squares of what is tuned, which starts at zero; (100 / N)² times as much for
    N < 100 rows of a classification."""
    pull_rows: Rows = 200
    """Rows of a regression above which the pull falls in inverse proportion to their number."""
    tuned_rows: Rows = 160
    """Most context rows of a step, drawn at random."""
    ridges: Annotated[list[Positive], Field(min_length=1, max_length=8)] = Field(
        default=[0.02, 0.4]
    )
    """Ridges of every head, before the tuning multiplies them by a factor."""
    products: bool = True
    """Two heads are products over columns, which hold their interactions."""
    exact_rows: Rows = 4000
    """Most context rows whose system is solved directly."""
    landmarks: Rows = 1500
    """Most rows that all attend through, above `exact_rows` rows."""
    seed: int = Field(default=0, ge=0)
    """Of the rows that are drawn."""
