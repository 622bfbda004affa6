"""Work of a training of NPT, from its settings and the size of the table.

n rows of a batch, d tokens of a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from npt.nn import flops
from npt.nn.encoders import workload as encoders
from npt.nn.settings import NPTSettings
from npt.workload import FLOAT, TRAINING, TableSize, Workload

WEIGHT_COPIES = 5  # weight, gradient, two moments, slow weight


@dataclass(frozen=True)
class Shape:
    """Sizes of the network's input.

    Attributes:
        batch: Rows (n) of a training batch.
        tokens: Tokens (d) of a row.
        batches: Batches of an epoch.
    """

    batch: int
    tokens: int
    batches: int


def workload(settings: NPTSettings, size: TableSize) -> Workload:
    """Work of a training; a row is probed by a pass over a batch.

    Images of a batch are encoded once for all its rows, as if all of them were probed.
    """
    shape = shape_of(settings, size)
    attention = flops.forward(shape.batch, shape.tokens, settings)
    of_image = 0.0
    if size.pixels is not None:
        of_image = encoders.forward(settings, size.columns, size.pixels)
    forward = attention + shape.batch * of_image
    return Workload(
        update_flop=TRAINING * forward,
        training_flop=forward * _passes(shape, settings),
        query_flop=attention + of_image,
        memory_mb=_memory(shape, settings, size) / 1e6,
    )


def shape_of(settings: NPTSettings, size: TableSize) -> Shape:
    """Shape of a batch of a table."""
    tokens = size.columns
    if size.pixels is not None:
        height, width = size.pixels
        tokens = height * width // settings.patch**2 + 1
    if settings.encoder != "linear":
        tokens = 1
    batch = min(size.rows, settings.batch_rows or size.rows)
    batches = -(-size.rows // batch)
    if settings.lookup != "off":
        batch *= 2  # every row has a duplicate
    return Shape(batch, tokens, batches)


def _passes(shape: Shape, settings: NPTSettings) -> float:
    """Forward passes over a batch that cost as much as a training."""
    epoch_updates = shape.batches * settings.repeated_batches
    evaluations = settings.updates / epoch_updates / settings.evaluate_every
    return TRAINING * settings.updates + shape.batches * evaluations


def _memory(shape: Shape, settings: NPTSettings, size: TableSize) -> float:
    """Bytes of weights, activations, attention maps between datapoints, and the table."""
    datapoint_blocks, _ = flops.blocks(settings)
    width = shape.tokens * settings.width
    weights = WEIGHT_COPIES * FLOAT * 12 * width**2 * datapoint_blocks
    activations = 20 * FLOAT * settings.layers * shape.batch * width
    attended = shape.batch if settings.attends_to_others else 1
    attention = 3 * FLOAT * settings.heads * shape.batch * attended * datapoint_blocks
    table = 3 * 8 * size.cells
    if size.pixels is not None:
        of_image = encoders.activations(settings, size.columns, size.pixels)
        activations += FLOAT * shape.batch * of_image
        table = 2 * size.cells  # bytes of intensities, and a copy while they are encoded
    return weights + activations + attention + table
