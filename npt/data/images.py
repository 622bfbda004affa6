"""Images as rows of intensities, from the file formats of MNIST and CIFAR-10."""

from __future__ import annotations

import gzip
import struct
from math import prod
from pathlib import Path

import numpy as np

from npt.data.declaration import Frame
from npt.data.unpack import DAMAGED
from npt.errors import UserError

UNSIGNED_BYTES = 0x08


def read_idx(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """Unsigned bytes of the declared shape from a gzipped IDX file.

    Raises:
        UserError: The file is damaged, or has another type or shape.
    """
    dimensions = len(shape)
    header = struct.pack(f">HBB{dimensions}I", 0, UNSIGNED_BYTES, dimensions, *shape)
    size = len(header) + prod(shape)
    try:
        with gzip.open(path) as stream:
            content = stream.read(size + 1)
    except DAMAGED as error:
        raise UserError(f"{path}: damaged gzip file ({error})") from None
    if not content.startswith(header) or len(content) != size:
        raise UserError(f"{path}: not an IDX file of {' × '.join(map(str, shape))} bytes")
    return np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape)


def read_records(path: Path, rows: int, width: int) -> np.ndarray:
    """Bytes (rows, width) of a file of records.

    Raises:
        UserError: The file has another size.
    """
    size = path.stat().st_size
    if size != rows * width:
        raise UserError(f"{path}: has {size:,} bytes, not {rows:,} records of {width:,}")
    return np.fromfile(path, np.uint8).reshape(rows, width)


def frame(images: np.ndarray, classes: np.ndarray, target: str) -> Frame:
    """Images (n, ...) and classes (n,) as columns x0, x1, ... and `target`."""
    import pandas as pd

    flat = images.reshape(len(images), -1)
    names = [f"x{j}" for j in range(flat.shape[1])]
    return pd.DataFrame(flat, columns=names).assign(**{target: classes})
