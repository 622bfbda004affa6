"""Numbers of folds and of seeds, as configurations and file names write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LARGEST = 9999
MOST_DIGITS = 20


def parse_folds(value: Any) -> tuple[int, ...]:
    """Numbers from `3`, a range `0-2`, ranges joined by `_` or `,`, or a list of these.

    Raises:
        ValueError: The value is none of these, a range ends before it begins, or a number is above
            `LARGEST`.
    """
    parts = value
    if not isinstance(value, list | tuple):
        text = str(value).replace("_", ",")
        parts = text.split(",")
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
    if max(len(first), len(last)) > MOST_DIGITS:
        raise ValueError(f"{text[:20]!r}… goes beyond {LARGEST}")
    if not (first.isdecimal() and last.isdecimal()):
        raise ValueError(f"{value!r} is not a number, a range such as 0-2, or a list of numbers")
    start = int(first)
    end = int(last)
    if max(start, end) > LARGEST:
        raise ValueError(f"{value!r} goes beyond {LARGEST}")
    if end < start:
        raise ValueError(f"{value!r}: {text} ends before it begins")
    return range(start, end + 1)


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
