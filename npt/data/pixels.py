"""Images as many tables: intensities are points, to be predicted from those of some pixels.

A point has a position in [-1, 1] x [-1, 1], of a colour image also a channel in [-1, 1], and an
intensity in [-0.5, 0.5] (Kim et al. 2019, section 4.2). A pixel is shown in all its channels.
"""

from __future__ import annotations

import numpy as np

from npt.data.declaration import Frame

SEED = 2019
BATCH = 16  # images, which share their number of context pixels
FEWEST = 3  # context pixels
TRAIN_IMAGES = 5_000
VALIDATION_IMAGES = 64
TEST_IMAGES = 256
HELD_OUT = VALIDATION_IMAGES + TEST_IMAGES


def points(images: np.ndarray, most: int) -> Frame:
    """Points of images (n, h, w, channels): those shown, then those for validation, then the test.

    The last images are held out. Between 3 and `most` random pixels of each are shown.
    """
    import pandas as pd

    count, height, width, channels = images.shape
    is_context = context_pixels(height * width, most)
    is_shown = np.ones((count, height * width), bool)
    is_shown[-HELD_OUT:] = is_context
    is_shown = is_shown.repeat(channels, 1)  # (n, points)
    validation, test = ~is_shown, ~is_shown
    test[:-TEST_IMAGES] = False
    validation[-TEST_IMAGES:] = False
    values = images.reshape(count, -1)
    parts = []
    for is_chosen in (is_shown, validation, test):
        image, point = is_chosen.nonzero()
        row, column, channel = np.unravel_index(point, images.shape[1:])
        columns = {
            "realisation": image.astype(np.int32),
            "x1": position(row, height),
            "x2": position(column, width),
            "channel": position(channel, channels),
            "y": (values[image, point] / 255 - 0.5).astype(np.float32),
        }
        if channels == 1:
            del columns["channel"]
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def context_pixels(pixels: int, most: int) -> np.ndarray:
    """Which pixels (images, pixels) of held-out images are shown: a random number of them."""
    generator = np.random.default_rng(SEED)
    is_context = np.zeros((HELD_OUT, pixels), bool)
    for start in range(0, HELD_OUT, BATCH):
        count = generator.integers(FEWEST, most, endpoint=True)
        for image in range(start, start + BATCH):
            is_context[image, generator.choice(pixels, count, replace=False)] = True
    return is_context


def position(index: np.ndarray, count: int) -> np.ndarray:
    """From the first at -1 to the last at 1."""
    return (2 * index / max(1, count - 1) - 1).astype(np.float32)
