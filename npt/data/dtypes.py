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
    is_negative_zero = np.signbit(numbers) & (numbers == 0)
    if np.array_equal(numbers, np.rint(numbers)) and not is_negative_zero.any():
        low = numbers.min(initial=0)
        high = numbers.max(initial=0)
        for kind in INTEGERS:
            limits = np.iinfo(kind)
            if limits.min <= low and high <= limits.max:
                return numbers.astype(kind, copy=False)
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32, copy=False)
    is_exact = np.array_equal(single.astype(numbers.dtype), numbers, equal_nan=True)
    return single if is_exact else numbers.astype(np.float64, copy=False)
