"""Random crops and reflections of images.

n rows, images of c channels, h pixels high and w wide.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from npt.nn.inputs import PART, EncodedTable
from npt.table import Image

PADDING = 4  # pixels around an image that is cropped


def augmented(
    batch: EncodedTable,
    image: Image,
    generator: torch.Generator,
) -> EncodedTable:
    """The batch with random crops of its train images, which get black borders.

    Half of them are mirrored.
    """
    features = ~batch.cells_of_target()[0]  # (d,)
    intensities = batch.numbers[:, features]  # (n, c * h * w)
    images = intensities.view(-1, image.channels, image.height, image.width)  # (n, c, h, w)
    n, c, h, w = images.shape
    centre = torch.tensor(image.centre, dtype=torch.float64)
    scale = torch.tensor(image.scale, dtype=torch.float64)
    black = (-centre / scale).to(images)[None, :, None, None]
    framed = black.expand(n, c, h + 2 * PADDING, w + 2 * PADDING).clone()
    framed[..., PADDING : PADDING + h, PADDING : PADDING + w] = images
    device = framed.device
    top, left = torch.randint(2 * PADDING + 1, (2, n), generator=generator, device=device)
    mirrored = torch.rand((n, 1, 1, 1), generator=generator, device=device) < 0.5
    crops = framed.unfold(2, h, 1).unfold(3, w, 1)  # (n, c, 2 PADDING + 1, 2 PADDING + 1, h, w)
    cropped = crops[torch.arange(n, device=device), :, top, left]  # (n, c, h, w)
    cropped = torch.where(mirrored, cropped.flip(-1), cropped)
    in_train = (batch.part == PART["train"])[:, None]
    numbers = batch.numbers.clone()
    numbers[:, features] = torch.where(in_train, cropped.flatten(1), intensities)
    return replace(batch, numbers=numbers)
