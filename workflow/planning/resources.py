"""What a run needs of a machine, told from its table's size and its settings before it starts: operations, memory, time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset

if TYPE_CHECKING:
    from workflow.config.old_reading import Config
    from workflow.planning.runs import Run

UNKNOWN_ROWS, UNKNOWN_COLUMNS = 10_000, 30  # of a table of the user's own, which is read later
LIBRARIES_MB = 500  # what Python holds after importing torch and the like
FLOAT = 4  # bytes
SLOWEST_GPU = (
    5e12  # floating-point operations a second that any GPU of a cluster does; for time limits alone
)
CPU_RATE = 6e10  # what a core does of the larger updates, as measured (docs/performance.md)
FEWEST_MINUTES, MOST_MINUTES = 30, 2_880
MARGIN = 1.5


@dataclass(frozen=True)
class Shape:
    """Rows of a table, rows (n) of a training batch, tokens (d) of a row, batches of an epoch, and cells of the whole table."""

    rows: int
    batch: int
    tokens: int
    batches: int
    cells: int


def shape_of(dataset: Dataset | CustomDataset, settings: Mapping[str, Any]) -> Shape:
    """The shape of a table as NPT sees it with some settings; a guess for a table that is not declared."""
    rows, columns = (
        (dataset.rows, dataset.columns)
        if isinstance(dataset, Dataset)
        else (UNKNOWN_ROWS, UNKNOWN_COLUMNS)
    )
    tokens = columns
    if isinstance(dataset, Dataset) and dataset.image:
        tokens = dataset.image.height * dataset.image.width // settings.get("patch", 4) ** 2 + 1
    batch = min(rows, settings.get("batch_rows") or rows)
    doubled = 1 if settings.get("lookup", "off") == "off" else 2
    return Shape(rows, doubled * batch, tokens, -(-rows // batch), rows * columns)


def forward_flop(shape: Shape, settings: Mapping[str, Any]) -> float:
    """Floating-point operations of one forward pass over a batch; a multiply-add counts two.

    A layer between datapoints takes 26 n (de)^2 + 4 n^2 (de), one between attributes 26 n d e^2 + 4 n d^2 e.
    """
    n, d, e = shape.batch, shape.tokens, settings["width"]
    between = settings["between_datapoints"], settings["between_attributes"]
    layers = settings["layers"] / sum(between)
    datapoints = 26 * n * (d * e) ** 2 + 4 * n**2 * d * e
    attributes = 26 * n * d * e**2 + 4 * n * d**2 * e
    return layers * (between[0] * datapoints + between[1] * attributes)


def training_flop(shape: Shape, settings: Mapping[str, Any]) -> float:
    """Floating-point operations of a training: three forward passes an update, one over all batches an evaluation."""
    epochs = settings["updates"] / shape.batches
    evaluations = epochs / settings["evaluate_every"]
    return forward_flop(shape, settings) * (3 * settings["updates"] + shape.batches * evaluations)


def run_flop(config: Config, run: Run) -> float:
    """Floating-point operations of the trainings of a run."""
    return len(run.folds) * training_flop(
        shape_of(config.datasets[run.dataset], run.settings), run.settings
    )


def training_memory(shape: Shape, settings: Mapping[str, Any]) -> float:
    """Megabytes that a training holds at its peak: weights five times, activations, attention, the table."""
    n, width, layers = shape.batch, shape.tokens * settings["width"], settings["layers"]
    datapoints = layers / (settings["between_datapoints"] + settings["between_attributes"])
    weights = 20 * 12 * width**2 * datapoints
    activations = 20 * FLOAT * layers * n * width
    attention = 3 * FLOAT * settings["heads"] * n**2 * datapoints
    return LIBRARIES_MB + (weights + activations + attention + 3 * 8 * shape.cells) / 1e6


def fitting_memory(shape: Shape) -> float:
    """Megabytes that the fit of a baseline holds at its peak: libraries, and the table a few times."""
    return LIBRARIES_MB + 8 * 8 * shape.cells / 1e6


def preparing_memory(shape: Shape) -> float:
    """Megabytes that reading a table holds at its peak."""
    return LIBRARIES_MB + 10 * 8 * shape.cells / 1e6


def asked(megabytes: float, attempt: int) -> int:
    """Memory to ask for, in megabytes: with a margin, in steps of 500, twice as much at each attempt."""
    return -(-int(MARGIN * megabytes) // 500) * 500 * 2 ** (attempt - 1)


def minutes(flop: float, attempt: int) -> int:
    """A time limit for a training, on the slowest GPU that it may meet; beyond two days it goes on at the next attempt."""
    return int(min(MOST_MINUTES, max(FEWEST_MINUTES, MARGIN * flop / SLOWEST_GPU / 60) * attempt))
