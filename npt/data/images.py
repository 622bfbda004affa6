"""Images as rows of intensities, from the formats that MNIST and CIFAR-10 come in."""

from __future__ import annotations

import gzip
import struct
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.data.unpack import DAMAGED
from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd

UNSIGNED_BYTES = 0x08


def read_idx(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """Unsigned bytes of the declared shape from a gzipped IDX file.

    Raises:
        UserError: the file is damaged, or declares another type or shape.
    """
    header = 4 + 4 * len(shape)
    try:
        with gzip.open(path) as stream:
            content = stream.read(header + prod(shape) + 1)
    except DAMAGED as error:
        raise UserError(f"{path}: not a whole gzip file ({error})") from None
    expected = struct.pack(f">HBB{len(shape)}I", 0, UNSIGNED_BYTES, len(shape), *shape)
    if content[:header] != expected or len(content) != header + prod(shape):
        raise UserError(f"{path}: not an IDX file of {' × '.join(map(str, shape))} bytes")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_records(path: Path, rows: int, width: int) -> np.ndarray:
    """Bytes (rows, width) of a file of records.

    Raises:
        UserError: the file has another size.
    """
    if path.stat().st_size != rows * width:
        raise UserError(
            f"{path}: has {path.stat().st_size:,} bytes, not {rows:,} records of {width:,}"
        )
    return np.fromfile(path, np.uint8).reshape(rows, width)


def frame(images: np.ndarray, classes: np.ndarray, target: str) -> pd.DataFrame:
    """Images (n, ...) and classes (n,) as columns x0, x1, ... and `target`."""
    import pandas as pd

    flat = images.reshape(len(images), -1)
    data = pd.DataFrame(flat, columns=[f"x{j}" for j in range(flat.shape[1])])
    return data.assign(**{target: classes})
