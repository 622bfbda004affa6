"""The smallest types that hold a column exactly: tables are many times smaller in them than in 64 bits."""

from __future__ import annotations

import numpy as np

INTEGERS = (np.int8, np.uint8, np.int16, np.int32)
CODES = (np.int8, np.int16, np.int32)


def code_type(levels: int) -> type[np.signedinteger]:
    """The smallest integer type for codes below `levels`, and -1."""
    return next(kind for kind in CODES if levels <= np.iinfo(kind).max + 1)


def smallest(numbers: np.ndarray) -> np.ndarray:
    """The same numbers (N,) in the smallest type that holds all of them exactly, the sign of zeros included.

    Whole numbers without missing ones become 8-, 16- or 32-bit integers, all others 32- or 64-bit floats.
    """
    if not len(numbers):
        return numbers.astype(np.int8)
    low, high = numbers.min(), numbers.max()
    if _whole(numbers, low, high):
        for kind in INTEGERS:
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return numbers.astype(kind, copy=False)
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32, copy=False)
    same = single is numbers or np.array_equal(
        single.astype(numbers.dtype), numbers, equal_nan=numbers.dtype.kind == "f"
    )
    return single if same else numbers.astype(np.float64, copy=False)


def _whole(numbers: np.ndarray, low: np.generic, high: np.generic) -> bool:
    if numbers.dtype.kind != "f":
        return True
    if not (np.isfinite(low) and np.isfinite(high)):
        return False
    return bool((numbers == np.rint(numbers)).all()) and not np.signbit(numbers[numbers == 0]).any()
