"""Operations and memory of encoders of images; a multiply-add counts two operations."""

from __future__ import annotations

from npt.nn.encoders.sizes import (
    PIXEL_FEED_FORWARD,
    PIXEL_HEADS,
    PIXEL_LAYERS,
    PIXEL_WIDTH,
    RESNET_BLOCKS,
    RESNET_WIDTHS,
)
from npt.nn.settings import NPTSettings

KERNEL = 9  # weights of a 3 x 3 convolution for each pair of channels
RESNET_MAPS = 6  # numbers that a convolution keeps for the backward pass, in those of its output
SCORE_MAPS = 6  # the same of attention between pixels, in its scores


def forward(
    settings: NPTSettings,
    columns: int,
    pixels: tuple[int, int],
) -> float:
    """Operations for an image with its target in `columns` columns; 0 for linear patches."""
    if settings.encoder == "linear":
        return 0.0
    channels, height, width = _image(settings, columns, pixels)
    if settings.encoder == "resnet18":
        return _resnet(channels, height, width)
    return _pixels(channels, height * width)


def activations(
    settings: NPTSettings,
    columns: int,
    pixels: tuple[int, int],
) -> float:
    """Numbers that a training step keeps for an image; 0 for linear patches."""
    if settings.encoder == "linear":
        return 0.0
    _, height, width = _image(settings, columns, pixels)
    count = height * width
    if settings.encoder == "siren":
        scores = PIXEL_HEADS * count**2
        return PIXEL_LAYERS * SCORE_MAPS * scores
    maps = 0.0
    for stage, channels in enumerate(RESNET_WIDTHS):
        area = count / 4**stage
        maps += 2 * RESNET_BLOCKS * channels * area
    return RESNET_MAPS * maps


def _image(
    settings: NPTSettings,
    columns: int,
    pixels: tuple[int, int],
) -> tuple[int, int, int]:
    """Channels, height and width after pooling."""
    height, width = pixels
    channels = (columns - 1) // (height * width)
    return channels, height // settings.pooling, width // settings.pooling


def _resnet(
    channels: int,
    height: int,
    width: int,
) -> float:
    area = height * width
    operations = 2.0 * KERNEL * channels * RESNET_WIDTHS[0] * area
    narrower = RESNET_WIDTHS[0]
    for stage, wider in enumerate(RESNET_WIDTHS):
        if stage:
            height = -(-height // 2)
            width = -(-width // 2)
        area = height * width
        square = 2 * KERNEL * wider**2 * area
        first = 2 * KERNEL * narrower * wider * area
        shortcut = 2 * narrower * wider * area if stage else 0
        operations += first + shortcut + (2 * RESNET_BLOCKS - 1) * square
        narrower = wider
    return operations


def _pixels(channels: int, count: int) -> float:
    """Attention between the pixels; networks of positions are left out."""
    embedding = 2.0 * count * channels * PIXEL_WIDTH
    projections = 4 * 2 * count * PIXEL_WIDTH**2
    products = 3 * 2 * count**2 * PIXEL_WIDTH  # with keys, positions and values
    feed_forward = 2 * 2 * count * PIXEL_WIDTH * PIXEL_FEED_FORWARD
    return embedding + PIXEL_LAYERS * (projections + products + feed_forward)
