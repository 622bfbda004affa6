"""Floating-point operations of the matrix products of NPT; a multiply-add counts two.

n rows, d columns with the target, e width of a column's embedding, feed-forward layers of four
times the width of a block. Everything else is elementwise and counted as nothing.
"""

from __future__ import annotations

from npt.nn.settings import NPTSettings

TRAINING = 3  # a backward pass costs twice a forward one


def blocks(settings: NPTSettings) -> tuple[int, int]:
    """Numbers of blocks between datapoints and between attributes.

    They alternate. Without one kind, only the other's half of the blocks remains.
    """
    pairs = max(1, settings.layers // 2)
    over_datapoints = pairs if settings.between_datapoints else 0
    over_attributes = pairs if settings.between_attributes else 0
    return over_datapoints, over_attributes


def between_datapoints(n: int, d: int, e: int) -> int:
    """A block between datapoints: 26 n M^2 for linear layers, 4 n^2 M for attention, M = d e."""
    width = d * e
    return 26 * n * width**2 + 4 * n**2 * width


def between_attributes(n: int, d: int, e: int) -> int:
    """A block between attributes: the same over d positions of width e, for each of n rows."""
    return n * (26 * d * e**2 + 4 * d**2 * e)


def forward(n: int, d: int, settings: NPTSettings) -> int:
    """One forward pass of the encoder over a batch."""
    over_datapoints, over_attributes = blocks(settings)
    datapoints = over_datapoints * between_datapoints(n, d, settings.width)
    attributes = over_attributes * between_attributes(n, d, settings.width)
    return datapoints + attributes


def update(n: int, d: int, settings: NPTSettings) -> int:
    """One training step."""
    return TRAINING * forward(n, d, settings)
