"""Numbers of folds and of seeds, as configurations and file names write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def parse_folds(value: Any) -> tuple[int, ...]:
    """Numbers from `3`, a range `0-2`, ranges joined by `,`, or a list of these.

    Raises:
        ValueError: The value is none of these, a range ends before it begins, or a number is above
            9999.
    """
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    numbers: set[int] = set()
    for part in parts:
        match = RANGE.fullmatch(str(part).strip())
        block = range(int(match[1]), int(match[2] or match[1]) + 1) if match else None
        if not block:
            raise ValueError(
                f"{value!r} is not a number up to 9999, a range such as 0-2, or a list of numbers"
            )
        numbers.update(block)
    if not numbers:
        raise ValueError(f"{value!r} is empty")
    return tuple(sorted(numbers))


def format_folds(folds: Iterable[int]) -> str:
    """Numbers as ranges: (0, 1, 2, 5) is `0-2_5`."""
    ranges: list[list[int]] = []
    for fold in sorted(folds):
        if ranges and fold == ranges[-1][-1] + 1:
            ranges[-1].append(fold)
        else:
            ranges.append([fold])
    names = []
    for block in ranges:
        names.append(f"{block[0]}-{block[-1]}" if len(block) > 1 else str(block[0]))
    return "_".join(names)
