"""MNIST as many tables, whose points are pixels (`npt.data.pixels`).

The first 5,000 train images are for training. The first 320 test images are held out; the number
of their context pixels is that of the training.
"""

from __future__ import annotations

import numpy as np

from npt.data import pixels
from npt.data.datasets import mnist
from npt.data.declaration import Dataset, Frame, Paths, Reading, SplitRule
from npt.data.images import read_idx

SIDE = 28
MOST = 100  # context pixels
FILES = tuple(file for file in mnist.FILES if "images" in file.name)


def read(paths: Paths) -> Frame:
    """Points of the train images, then of the held-out ones."""
    counts = (pixels.TRAIN_IMAGES, pixels.HELD_OUT)
    images = []
    for (part, rows), count in zip(mnist.PARTS, counts, strict=True):
        part_images = read_idx(paths[f"{part}-images-idx3-ubyte.gz"], (rows, SIDE, SIDE))
        images.append(part_images[:count])
    return pixels.points(np.concatenate(images)[..., None], MOST)


DATASET = Dataset(
    name="mnist_pixels",
    title="MNIST pixels",
    task="regression",
    rows=SIDE**2 * (pixels.TRAIN_IMAGES + pixels.HELD_OUT),
    columns=4,
    target="y",
    categorical=(),
    readings=(Reading(FILES, read),),
    licence="CC BY-SA 3.0",
    split_rule=SplitRule(fixed_validation_rows=47_696, fixed_test_rows=184_176),
    folder="mnist",
    realisations=True,
)
