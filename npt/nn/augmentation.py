"""Random crops and reflections of images.

n rows, images of c channels, h pixels high and w wide.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from npt.nn.inputs import EncodedTable
from npt.nn.patches import Patches
from npt.table import Image

PADDING = 4  # pixels around an image that is cropped


def augmented(batch: EncodedTable, patches: Patches, generator: torch.Generator) -> EncodedTable:
    """The batch with its train images cropped at random from black borders of four pixels, and half of them mirrored."""
    image = patches.image
    features = torch.arange(batch.numbers.shape[1], device=batch.numbers.device) != batch.target
    shape = (len(batch.part), image.channels, image.height, image.width)
    images = batch.numbers[:, features].view(shape)  # (n, c, h, w)
    cropped = _random_crops(_framed(images, image), image, generator)  # (n, c, h, w)
    in_train = (batch.part == 0)[:, None]
    numbers = batch.numbers.clone()
    numbers[:, features] = torch.where(in_train, cropped.flatten(1), images.flatten(1))
    return replace(batch, numbers=numbers)


def _framed(images: torch.Tensor, image: Image) -> torch.Tensor:
    """Images (n, c, h, w) with black borders."""
    n, c, h, w = images.shape
    black = []
    for centre, scale in zip(image.centre, image.scale, strict=True):
        black.append(-centre / scale)
    background = torch.tensor(black, device=images.device)[None, :, None, None]
    framed = background.expand(n, c, h + 2 * PADDING, w + 2 * PADDING).clone()
    framed[..., PADDING : PADDING + h, PADDING : PADDING + w] = images
    return framed


def _random_crops(framed: torch.Tensor, image: Image, generator: torch.Generator) -> torch.Tensor:
    """A crop (n, c, h, w) of every framed image, at a random position and mirrored with probability one half."""
    device = framed.device
    n, c = framed.shape[:2]
    top, left = torch.randint(0, 2 * PADDING + 1, (2, n, 1), generator=generator, device=device)
    mirrored = torch.rand((n, 1), generator=generator, device=device) < 0.5
    across = torch.arange(image.width, device=device).expand(n, -1)
    rows = top + torch.arange(image.height, device=device)  # (n, h)
    columns = left + torch.where(mirrored, image.width - 1 - across, across)  # (n, w)
    items = torch.arange(n, device=device)[:, None, None, None]
    channels = torch.arange(c, device=device)[None, :, None, None]
    return framed[items, channels, rows[:, None, :, None], columns[:, None, None, :]]
