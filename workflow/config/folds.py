"""Numbers of folds and of seeds, as configurations and file names write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

NUMBER = re.compile(r"[0-9]{1,4}")


def parse_folds(value: Any) -> tuple[int, ...]:
    """Numbers from `3`, a range `0-2`, ranges joined by `,`, or a list of these.

    Raises:
        ValueError: The value is none of these, a range ends before it begins, or a number is above
            9999.
    """
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    numbers: set[int] = set()
    for part in parts:
        text = str(part).strip()
        numbers.update(_parse_range(text, value))
    if not numbers:
        raise ValueError(f"{value!r} is empty")
    return tuple(sorted(numbers))


def _parse_range(text: str, value: Any) -> range:
    first, dash, last = text.partition("-")
    if not dash:
        last = first
    if not (NUMBER.fullmatch(first) and NUMBER.fullmatch(last)):
        raise ValueError(
            f"{value!r} is not a number up to 9999, a range such as 0-2, or a list of numbers"
        )
    numbers = range(int(first), int(last) + 1)
    if not numbers:
        raise ValueError(f"{value!r}: {text} ends before it begins")
    return numbers


def format_folds(folds: Iterable[int]) -> str:
    """Numbers as ranges: (0, 1, 2, 5) is `0-2_5`."""
    ranges: list[list[int]] = []
    for fold in sorted(folds):
        if ranges and fold == ranges[-1][-1] + 1:
            ranges[-1].append(fold)
        else:
            ranges.append([fold])
    return "_".join(_format_range(block) for block in ranges)


def _format_range(block: list[int]) -> str:
    if len(block) == 1:
        return str(block[0])
    return f"{block[0]}-{block[-1]}"
