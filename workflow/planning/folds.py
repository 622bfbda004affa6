"""Seeds, which are the numbers of folds: as a configuration and file names write them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from npt.interface import UserError

MOST_FOLDS = 9999


def parse_folds(value: Any, where: str) -> tuple[int, ...] | None:
    """Seeds from `all` (None), a number, a range such as `0-2`, ranges joined by `_` or `,`, or a list of numbers."""
    if value == "all":
        return None
    parts = value if isinstance(value, list) else str(value).replace("_", ",").split(",")
    folds: set[int] = set()
    for part in parts:
        first, _, last = str(part).strip().partition("-")
        if not first.isdecimal() or not (last or "0").isdecimal():
            raise UserError(f"{where}: {value!r} is not a fold; allowed: all, 3, 0-2 or [0, 1, 2]")
        if int(last or first) > MOST_FOLDS:
            raise UserError(f"{where}: {value!r} goes beyond {MOST_FOLDS}")
        folds.update(range(int(first), int(last or first) + 1))
    if not folds:
        raise UserError(f"{where}: {value!r} is empty")
    return tuple(sorted(folds))


def format_folds(folds: Iterable[int]) -> str:
    """Seeds as ranges: (0, 1, 2, 5) is `0-2_5`."""
    ranges = []
    for _, members in groupby(enumerate(sorted(folds)), key=lambda pair: pair[1] - pair[0]):
        block = [fold for _, fold in members]
        ranges.append(str(block[0]) if len(block) == 1 else f"{block[0]}-{block[-1]}")
    return "_".join(ranges)
