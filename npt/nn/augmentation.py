"""Random crops and reflections of images.

n rows, images of c channels, h pixels high and w wide.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from npt.nn.inputs import PART, EncodedTable
from npt.table import Image

PADDING = 4  # pixels around an image that is cropped


def augmented(
    batch: EncodedTable,
    image: Image,
    generator: torch.Generator,
) -> EncodedTable:
    """The batch with random crops and reflections of its train images, which get black borders."""
    features = ~batch.cells_of_target()[0]  # (d,)
    intensities = batch.numbers[:, features]  # (n, c * h * w)
    images = intensities.view(-1, image.channels, image.height, image.width)  # (n, c, h, w)
    n, c, h, w = images.shape
    centre = torch.tensor(image.centre, dtype=torch.float64)
    scale = torch.tensor(image.scale, dtype=torch.float64)
    black = (-centre / scale).to(images)[None, :, None, None]
    framed = black.expand(n, c, h + 2 * PADDING, w + 2 * PADDING).clone()
    framed[..., PADDING : PADDING + h, PADDING : PADDING + w] = images
    cropped = _random_crops(framed, h, w, generator)  # (n, c, h, w)
    in_train = (batch.part == PART["train"])[:, None]
    numbers = batch.numbers.clone()
    numbers[:, features] = torch.where(in_train, cropped.flatten(1), intensities)
    return replace(batch, numbers=numbers)


def _random_crops(framed: Tensor, h: int, w: int, generator: torch.Generator) -> Tensor:
    """A random crop (n, c, h, w) of every framed image, mirrored with probability one half."""
    device = framed.device
    n, c, _, _ = framed.shape
    corners = torch.randint(2 * PADDING + 1, (2, n, 1), generator=generator, device=device)
    mirrored = torch.rand((n, 1), generator=generator, device=device) < 0.5
    top, left = corners
    down = torch.arange(h, device=device)
    across = torch.arange(w, device=device)
    rows = top + down  # (n, h)
    columns = left + torch.where(mirrored, across.flip(0), across)  # (n, w)
    items = torch.arange(n, device=device)[:, None, None, None]
    channels = torch.arange(c, device=device)[:, None, None]
    return framed[items, channels, rows[:, None, :, None], columns[:, None, None, :]]
