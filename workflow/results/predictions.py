"""Predictions of a run or a probe: named arrays in one file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np

from npt.atomic import replacing
from npt.errors import UserError
from npt.interface import Prediction
from npt.table import Part, Split

PARTS: tuple[Part, ...] = ("validation", "test")
Arrays = Mapping[str, np.ndarray]
DAMAGE = (ValueError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, zlib.error)


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
                content = BytesIO(archive.read(name))  # compared with its checksum
                arrays[name.removesuffix(".npy")] = np.load(content, allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: missing") from None
    except DAMAGE as error:
        raise UserError(f"{path}: damaged ({error})") from None
    return arrays
