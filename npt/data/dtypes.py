"""The smallest types that hold a column exactly; tables are several times smaller in them."""

from __future__ import annotations

import numpy as np

INTEGERS = (np.int8, np.uint8, np.int16, np.int32)


def code_type(levels: int) -> np.dtype:
    """The smallest integer type for codes below `levels`, and -1."""
    return np.min_scalar_type(-max(1, levels))


def smallest(numbers: np.ndarray) -> np.ndarray:
    """The numbers (N,) in a small type that holds them exactly, as float64 does.

    Whole numbers without missing ones become 8-bit, or signed 16- or 32-bit integers where these
    hold them, all others 32- or 64-bit floats. The sign of a zero is kept.
    """
    if len(numbers) == 0:
        return numbers.astype(np.int8)
    low = numbers.min()
    high = numbers.max()
    if _whole(numbers, low, high):
        for kind in INTEGERS:
            limits = np.iinfo(kind)
            if limits.min <= low and high <= limits.max:
                return numbers.astype(kind, copy=False)
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32, copy=False)
    is_exact = np.array_equal(single.astype(numbers.dtype), numbers, equal_nan=True)
    return single if is_exact else numbers.astype(np.float64, copy=False)


def _whole(numbers: np.ndarray, low: np.generic, high: np.generic) -> bool:
    if numbers.dtype.kind != "f":
        return True
    if not np.isfinite(low) or not np.isfinite(high):
        return False
    if (numbers != np.rint(numbers)).any():
        return False
    zeros = numbers[numbers == 0]
    return not np.signbit(zeros).any()
