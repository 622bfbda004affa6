"""MNIST as many tables: the pixels of an image are the points, to be predicted from some of them.

The first 5,000 train images are for training. The first 320 test images are held out; the number
of their context pixels is that of the training. Positions are in [-1, 1], intensities in
[-0.5, 0.5] (Kim et al. 2019, section 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.data.datasets import mnist
from npt.data.declaration import Dataset, Reading, SplitRule
from npt.data.images import read_idx

if TYPE_CHECKING:
    import pandas as pd

SEED = 2019
SIDE = 28
PIXELS = SIDE**2
TRAIN_IMAGES = 5_000
VALIDATION_IMAGES = 64
TEST_IMAGES = 256
IMAGES = 16  # of a batch, which share their number of context pixels
FEWEST, MOST = 3, 100  # context pixels
ROWS = PIXELS * (TRAIN_IMAGES + VALIDATION_IMAGES + TEST_IMAGES)
VALIDATION_ROWS = 47_696
TEST_ROWS = 184_176
FILES = tuple(file for file in mnist.FILES if "images" in file.name)


def read(paths: Mapping[str, Path]) -> pd.DataFrame:
    """All points: those shown, then the targets for validation, then those for the test."""
    import pandas as pd

    (train, train_count), (test, test_count) = mnist.PARTS
    train_images = read_idx(paths[_file(train)], (train_count, SIDE, SIDE))
    test_images = read_idx(paths[_file(test)], (test_count, SIDE, SIDE))
    held_out = VALIDATION_IMAGES + TEST_IMAGES
    images = np.concatenate([train_images[:TRAIN_IMAGES], test_images[:held_out]])
    is_context = _context_pixels(held_out)
    is_shown = np.concatenate([np.ones((TRAIN_IMAGES, PIXELS), bool), is_context])
    first = TRAIN_IMAGES
    last = first + VALIDATION_IMAGES
    parts = [
        _points(images, is_shown, slice(None)),
        _points(images, ~is_shown, slice(first, last)),
        _points(images, ~is_shown, slice(last, None)),
    ]
    return pd.concat(parts, ignore_index=True)


def _file(part: str) -> str:
    return f"{part}-images-idx3-ubyte.gz"


def _context_pixels(images: int) -> np.ndarray:
    """Which pixels (images, 784) are shown: a random number of random ones."""
    generator = np.random.default_rng(SEED)
    is_context = np.zeros((images, PIXELS), bool)
    for start in range(0, images, IMAGES):
        count = generator.integers(FEWEST, MOST, endpoint=True)
        for image in range(start, start + IMAGES):
            chosen = generator.choice(PIXELS, count, replace=False)
            is_context[image, chosen] = True
    return is_context


def _points(images: np.ndarray, chosen: np.ndarray, numbers: slice) -> pd.DataFrame:
    """Chosen pixels of some images, image by image."""
    import pandas as pd

    is_chosen = np.zeros_like(chosen)
    is_chosen[numbers] = chosen[numbers]
    image, pixel = is_chosen.nonzero()
    row, column = np.divmod(pixel, SIDE)
    intensities = images.reshape(-1, PIXELS)[image, pixel]
    columns = {
        "realisation": image.astype(np.int32),
        "x1": _position(row),
        "x2": _position(column),
        "y": (intensities / 255 - 0.5).astype(np.float32),
    }
    return pd.DataFrame(columns)


def _position(index: np.ndarray) -> np.ndarray:
    """From the first row or column at -1 to the last at 1."""
    return (2 * index / (SIDE - 1) - 1).astype(np.float32)


DATASET = Dataset(
    name="mnist_pixels",
    title="MNIST pixels",
    task="regression",
    rows=ROWS,
    columns=4,
    target="y",
    categorical=(),
    readings=(Reading(FILES, read),),
    licence="CC BY-SA 3.0",
    split_rule=SplitRule(fixed_validation_rows=VALIDATION_ROWS, fixed_test_rows=TEST_ROWS),
    folder="mnist",
    realisations=True,
)
