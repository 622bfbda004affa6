"""Floating-point operations of the matrix products of NPT; a multiply-add counts two.

n rows, d columns with the target, e width of a column's embedding. Everything else is elementwise and counted as nothing.
"""

from __future__ import annotations

from npt.nn.settings import NPTSettings

TRAINING = 3  # a backward pass costs twice a forward one


def between_datapoints(n: int, d: int, e: int) -> int:
    """A block between datapoints: 26 n M^2 for its linear layers and 4 n^2 M for its attention, M = d e."""
    return 26 * n * (d * e) ** 2 + 4 * n**2 * d * e


def between_attributes(n: int, d: int, e: int) -> int:
    """A block between attributes: the same over d positions of width e, for each of n rows."""
    return 26 * n * d * e**2 + 4 * n * d**2 * e


def blocks(settings: NPTSettings) -> tuple[int, int]:
    """Numbers of blocks between datapoints and between attributes; layers without a kind are left out."""
    number = max(1, settings.layers // 2)
    return number * settings.between_datapoints, number * settings.between_attributes


def forward(n: int, d: int, settings: NPTSettings) -> int:
    """One forward pass of the encoder over a batch, with feed-forward layers of four times the width."""
    datapoint_blocks, attribute_blocks = blocks(settings)
    datapoints = datapoint_blocks * between_datapoints(n, d, settings.width)
    attributes = attribute_blocks * between_attributes(n, d, settings.width)
    return datapoints + attributes


def update(n: int, d: int, settings: NPTSettings) -> int:
    """One training step."""
    return TRAINING * forward(n, d, settings)
