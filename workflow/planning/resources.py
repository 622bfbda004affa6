"""Memory, time and operations of jobs, estimated from table sizes and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset
from npt.nn import flops
from npt.nn.settings import NPTSettings
from workflow.planning.run import Run

UNKNOWN_ROWS = 10_000  # of a custom dataset, whose size is known only after reading it
UNKNOWN_COLUMNS = 30
LIBRARIES_MB = 500  # a Python process that has imported torch and the like
FLOAT = 4  # bytes
SLOWEST_GPU = 5e12  # operations a second of any GPU of a cluster, for time limits alone
CPU_RATE = 6e10  # operations a second of a core in large updates, see docs/performance.md
FEWEST_MINUTES = 30
MOST_MINUTES = 2_880
SEARCH_MINUTES = 240
CELLS_PER_MINUTE = 5_000
MARGIN = 1.5
MEMORY_STEP = 500  # megabytes

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """Sizes of a table.

    Attributes:
        batch: Rows (n) of a training batch.
        tokens: Tokens (d) of a row.
        batches: Batches of an epoch.
        cells: Of the whole table.
    """

    rows: int
    batch: int
    tokens: int
    batches: int
    cells: int


def table_shape(dataset: Dataset | CustomDataset) -> tuple[int, int]:
    """Rows and columns of a table; a guess for custom datasets."""
    if isinstance(dataset, Dataset):
        return dataset.rows, dataset.columns
    return UNKNOWN_ROWS, UNKNOWN_COLUMNS


def cells(dataset: Dataset | CustomDataset) -> int:
    """Cells of a table."""
    rows, columns = table_shape(dataset)
    return rows * columns


def shape_of(dataset: Dataset | CustomDataset, settings: NPTSettings) -> Shape:
    """Shape of a table for an NPT."""
    rows, columns = table_shape(dataset)
    tokens = columns
    if isinstance(dataset, Dataset) and dataset.image:
        pixels = dataset.image.height * dataset.image.width
        tokens = pixels // settings.patch**2 + 1
    batch = min(rows, settings.batch_rows or rows)
    batches = -(-rows // batch)
    if settings.lookup != "off":
        batch *= 2  # every row has a duplicate
    return Shape(rows, batch, tokens, batches, rows * columns)


def npt_settings(settings: Settings) -> NPTSettings:
    """Settings of NPT from plain values."""
    return NPTSettings(**settings)


def forward_flop(shape: Shape, settings: NPTSettings) -> float:
    """Floating-point operations of a forward pass over a batch."""
    return flops.forward(shape.batch, shape.tokens, settings)


def update_flop(shape: Shape, settings: NPTSettings) -> float:
    """Floating-point operations of a training step."""
    return flops.update(shape.batch, shape.tokens, settings)


def training_flop(shape: Shape, settings: NPTSettings) -> float:
    """Floating-point operations of a training with its validation passes over all batches."""
    epoch_updates = shape.batches * settings.repeated_batches
    evaluations = settings.updates / epoch_updates / settings.evaluate_every
    training_passes = flops.TRAINING * settings.updates
    validation_passes = shape.batches * evaluations
    return forward_flop(shape, settings) * (training_passes + validation_passes)


def run_flop(dataset: Dataset | CustomDataset, run: Run) -> float:
    """Floating-point operations of the trainings of a run of NPT."""
    settings = npt_settings(run.settings)
    shape = shape_of(dataset, settings)
    return len(run.folds) * training_flop(shape, settings)


def training_memory(shape: Shape, settings: NPTSettings) -> float:
    """Peak memory of a training in megabytes.

    Weights count five times (gradient, two moments, slow copy); activations, attention maps
    between datapoints and the table are added.
    """
    datapoint_blocks, _ = flops.blocks(settings)
    width = shape.tokens * settings.width
    weights = 5 * FLOAT * 12 * width**2 * datapoint_blocks
    activations = 20 * FLOAT * settings.layers * shape.batch * width
    attention = 3 * FLOAT * settings.heads * shape.batch**2 * datapoint_blocks
    table = 3 * 8 * shape.cells
    total = weights + activations + attention + table
    return LIBRARIES_MB + total / 1e6


def fitting_memory(table_cells: int) -> float:
    """Peak memory of the fit of a baseline in megabytes."""
    return LIBRARIES_MB + 8 * 8 * table_cells / 1e6


def preparing_memory(table_cells: int) -> float:
    """Peak memory of preparing a dataset in megabytes."""
    return LIBRARIES_MB + 10 * 8 * table_cells / 1e6


def requested_memory(megabytes: float, attempt: int) -> int:
    """Megabytes to request: with a margin, in steps, doubled at every attempt."""
    steps = -(-int(MARGIN * megabytes) // MEMORY_STEP)
    return steps * MEMORY_STEP * 2 ** (attempt - 1)


def training_minutes(flop: float, attempt: int) -> int:
    """Time limit of a training on the slowest GPU; the next attempt resumes it."""
    minutes = max(FEWEST_MINUTES, MARGIN * flop / SLOWEST_GPU / 60)
    return int(min(MOST_MINUTES, minutes * attempt))


def search_minutes(table_cells: int, folds: int, attempt: int) -> int:
    """Time limit of the search of a baseline."""
    minutes = SEARCH_MINUTES + folds * table_cells // CELLS_PER_MINUTE
    return min(MOST_MINUTES, minutes * attempt)
