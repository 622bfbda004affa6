"""Settings of baselines, and grids of configurations (paper Tables 17 to 25)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, field_validator

from npt.errors import unknown
from npt.validation import Strict

Grid = Mapping[str, Sequence[Any]]
Parameters = Mapping[str, Any]
GridName = Literal["paper", "quick"]
Size = Literal["small", "medium", "large"]
SIZES: tuple[Size, ...] = get_args(Size)
MOST_POINTS = 100_000  # of a custom grid
MEDIUM_ROWS = 10_000
LARGE_ROWS = 200_000


class BaselineSettings(Strict):
    """What a search tries.

    Attributes:
        grid: Name of a declared grid, or a grid: parameter to list of values.
        fixed: Parameters that the grid does not tune, the same in every configuration.
        budget: Number of different models to try on a fold, drawn from the grid, the same on
            every fold; None tries all.
        native_categories: Pass categories to the library as such instead of one-hot.
        native_missing: Pass missing numbers to the library as NaN instead of the column's mean.
        transductive: Standardise features over all rows, as in the paper, instead of the train
            rows, as the setting of NPT does.
    """

    grid: GridName | dict[str, list[Any]] = "paper"
    fixed: dict[str, Any] = Field(default_factory=dict)
    budget: int | None = Field(default=None, ge=1)
    native_categories: bool = False
    native_missing: bool = False
    transductive: bool = True

    @field_validator("grid", mode="before")
    @classmethod
    def _name_or_lists(cls, grid: Any) -> Any:
        if isinstance(grid, Mapping):
            for name, values in grid.items():
                if not isinstance(name, str) or not isinstance(values, list):
                    raise ValueError(f"{name}: {values!r}; allowed: names with lists of values")
            number = math.prod(map(len, grid.values()))
            if number > MOST_POINTS:
                raise ValueError(f"{number} configurations; allowed: up to {MOST_POINTS}")
        elif grid not in get_args(GridName):
            raise ValueError(f"{unknown(grid, get_args(GridName))}, or a mapping of lists")
        return grid


class AnyParameters(Strict):
    """Parameters that are all left to the library."""

    model_config = ConfigDict(extra="allow")


def size_of(train_rows: int) -> Size:
    """The size class by which the paper chose its grids."""
    if train_rows < MEDIUM_ROWS:
        return "small"
    if train_rows < LARGE_ROWS:
        return "medium"
    return "large"


def single_point(parameters: Parameters) -> dict[str, list[Any]]:
    """The grid of a single configuration."""
    return {name: [value] for name, value in parameters.items()}
