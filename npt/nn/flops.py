"""Floating-point operations of the matrix products of NPT; a multiply-add counts two.

n rows, d columns with the target, e width of a column's embedding, feed-forward layers of f times
the width of a block. Everything else is elementwise and counted as nothing.
"""

from __future__ import annotations

from npt.nn.settings import NPTSettings
from npt.workload import TRAINING


def blocks(settings: NPTSettings) -> tuple[int, int]:
    """Numbers of blocks between datapoints and between attributes."""
    over_rows = settings.over_rows
    return over_rows.count(True), over_rows.count(False)


def block(
    positions: int,
    width: int,
    feed_forward: int,
) -> int:
    """A block over s positions of width M.

    (10 + 4 f) s M^2 operations are for linear layers, 4 s^2 M for attention.
    """
    layers = 10 + 4 * feed_forward
    linear = layers * positions * width**2
    attention = 4 * positions**2 * width
    return linear + attention


def between_datapoints(
    n: int,
    d: int,
    settings: NPTSettings,
) -> int:
    """A block between datapoints: over n positions of width d e, or n times over one."""
    width = d * settings.width
    if settings.attends_to_others:
        return block(n, width, settings.feed_forward)
    return n * block(1, width, settings.feed_forward)


def between_attributes(
    n: int,
    d: int,
    settings: NPTSettings,
) -> int:
    """A block between attributes: over d positions of width e, for each of n rows."""
    width = settings.width
    return n * block(d, width, settings.feed_forward)


def forward(n: int, d: int, settings: NPTSettings) -> int:
    """One forward pass of the encoder over a batch."""
    datapoints, attributes = blocks(settings)
    over_rows = between_datapoints(n, d, settings)
    over_columns = between_attributes(n, d, settings)
    return datapoints * over_rows + attributes * over_columns


def update(n: int, d: int, settings: NPTSettings) -> int:
    """One training step."""
    return TRAINING * forward(n, d, settings)
