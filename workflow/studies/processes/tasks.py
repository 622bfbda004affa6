"""Which pixels of an image each task of completion shows, and means over points."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

SIDE = 28
RANDOM = (10, 30, 100)  # numbers of pixels
STEP = 4  # between the pixels of a coarse image
TITLES = {
    **{f"random_{count}": f"{count} random pixels" for count in RANDOM},
    "top_half": "top half",
    "coarse": f"every {STEP}th pixel",
}


def shown_pixels(task: str, seed: int) -> np.ndarray:
    """Indices of the shown pixels, row by row from the top left."""
    pixels = np.arange(SIDE**2)
    rows, columns = np.divmod(pixels, SIDE)
    if task == "top_half":
        return pixels[rows < SIDE // 2]
    if task == "coarse":
        offset = STEP // 2
        is_kept = (rows % STEP == offset) & (columns % STEP == offset)
        return pixels[is_kept]
    count = int(task.removeprefix("random_"))
    generator = np.random.default_rng(seed)
    return np.sort(generator.choice(pixels, count, replace=False))


def means_of_points(batches: list[dict[str, Tensor]]) -> dict[str, float]:
    """Mean of each score over the points of all batches."""
    means = {}
    for name in batches[0]:
        points = torch.cat([scores[name].flatten() for scores in batches])
        means[name] = float(points.double().mean())
    return means
