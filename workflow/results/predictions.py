"""Predictions of a run or a probe: named arrays in one file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from npt.atomic import replacing
from npt.errors import UserError
from npt.interface import Prediction
from npt.table import Part, Split

PARTS: tuple[Part, ...] = ("validation", "test")
Arrays = Mapping[str, np.ndarray]
LENGTH = slice(8, 10)  # bytes of a file in numpy's format that hold the length of its header


def fold_arrays(
    fold: int, split: Split, predictions: Mapping[Part, Prediction]
) -> dict[str, np.ndarray]:
    """Arrays of a fold: for each part its rows (n,), and its predictions (n,) or (n, C)."""
    arrays = {}
    for part, prediction in predictions.items():
        arrays[f"fold_{fold}_{part}_rows"] = split.rows(part)
        arrays[f"fold_{fold}_{part}"] = prediction.values
    return arrays


def write_predictions(path: Path, arrays: Arrays) -> None:
    """Write named arrays."""
    with replacing(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **dict(arrays))


def read_predictions(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays.

    Raises:
        UserError: the file is missing or damaged.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                arrays[name.removesuffix(".npy")] = _array(archive.read(name))
    except FileNotFoundError:
        raise UserError(f"{path}: missing") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: damaged ({error})") from None
    return arrays


def _array(content: bytes) -> np.ndarray:
    """An array in numpy's format.

    Raises:
        ValueError: It is damaged, or holds pickled objects.
    """
    length = int.from_bytes(content[LENGTH], "little")
    start = LENGTH.stop + length
    layout = _layout(content[:start])
    values = np.frombuffer(content, layout.dtype, offset=start)
    order = "F" if layout.by_column else "C"
    return values.reshape(layout.shape, order=order).copy()


class _Layout(NamedTuple):
    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype


@lru_cache(maxsize=1024)
def _layout(header: bytes) -> _Layout:
    """What a header says; parsing takes longer than reading a small array."""
    stream = BytesIO(header)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"version {version}")
    layout = _Layout(*np.lib.format.read_array_header_1_0(stream))
    if layout.dtype.hasobject:
        raise ValueError("pickled objects")
    return layout
