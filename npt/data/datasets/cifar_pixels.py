"""CIFAR-10 as many tables, whose points are intensities of three channels (`npt.data.pixels`).

An image is cropped to its central 16 × 16 pixels. The first 5,000 train images are for training,
the first 320 test images are held out.
"""

from __future__ import annotations

import numpy as np

from npt.data import pixels
from npt.data.datasets import cifar10
from npt.data.declaration import Dataset, Frame, Paths, Reading, SplitRule
from npt.data.images import read_records

SIDE = 16
CROP = slice(8, 24)
MOST = 33  # context pixels
TRAIN, TEST = "data_batch_1.bin", "test_batch.bin"
FILES = tuple(file for file in cifar10.FILES if file.name in (TRAIN, TEST))


def read(paths: Paths) -> Frame:
    """Points of the train images, then of the held-out ones."""
    images = []
    for name, count in ((TRAIN, pixels.TRAIN_IMAGES), (TEST, pixels.HELD_OUT)):
        records = read_records(paths[name], cifar10.ROWS, 1 + cifar10.INTENSITIES)
        by_channel = records[:count, 1:].reshape(-1, 3, 32, 32)
        images.append(by_channel[:, :, CROP, CROP].transpose(0, 2, 3, 1))
    return pixels.points(np.concatenate(images), MOST)


DATASET = Dataset(
    name="cifar_pixels",
    title="CIFAR-10 pixels",
    task="regression",
    rows=3 * SIDE**2 * (pixels.TRAIN_IMAGES + pixels.HELD_OUT),
    columns=5,
    target="y",
    categorical=(),
    readings=(Reading(FILES, read),),
    licence="not stated",
    split_rule=SplitRule(fixed_validation_rows=45_888, fixed_test_rows=181_728),
    folder="cifar10",
    realisations=True,
)
