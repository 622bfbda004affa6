"""Memory and operations of jobs, estimated from table sizes and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset
from npt.workload import TableSize, Workload
from workflow.planning.run import Run

TRAIN_FRACTION = 0.7  # of the rows
LIBRARIES_MB = 500  # a Python process that has imported torch and the like
CPU_RATE = 6e10  # operations a second of a core in large updates, see docs/performance.md
SMALL_UPDATE = 5e10  # operations, milliseconds of a GPU, in about a thousand launches
SMALL_MB = 2000
READING_MB = 200  # a Python process that has imported pandas and matplotlib
ROW_MB = 0.01  # of a collected row, see docs/performance.md
MARGIN = 1.5
MEMORY_STEP = 500  # megabytes

Settings = Mapping[str, Any]


def cells(dataset: Dataset | CustomDataset) -> int:
    """Cells of a table."""
    return dataset.rows * dataset.columns


def table_size(dataset: Dataset | CustomDataset) -> TableSize:
    """Sizes of a table on which the work of a training depends."""
    pixels = None
    if isinstance(dataset, Dataset) and dataset.image:
        pixels = (dataset.image.height, dataset.image.width)
    train_rows = int(TRAIN_FRACTION * dataset.rows)
    return TableSize(dataset.rows, dataset.columns, train_rows, pixels)


def workload(dataset: Dataset | CustomDataset, method: str, settings: Settings) -> Workload | None:
    """Work of a training by a method with plain settings; None if only measurements know."""
    declared = methods()[method]
    if declared.workload is None:
        return None
    return declared.workload(declared.settings(**settings), table_size(dataset))


def run_workloads(dataset: Dataset | CustomDataset, run: Run) -> list[Workload]:
    """Work of each training of a run on a fold; empty if only measurements know."""
    workloads: list[Workload] = []
    for training in run.trainings:
        work = workload(dataset, training.method, training.settings)
        if work is not None:
            workloads.append(work)
    return workloads


def run_flop(dataset: Dataset | CustomDataset, run: Run) -> float:
    """Floating-point operations of the trainings of a run; 0 if only measurements know."""
    of_fold = sum(work.training_flop for work in run_workloads(dataset, run))
    return len(run.folds) * of_fold


def shares_gpu(dataset: Dataset | CustomDataset, run: Run) -> bool:
    """Whether a GPU mostly waits for the next operation of a training, so that others can share it.

    By the operations of an update, and by its memory.
    """
    workloads = run_workloads(dataset, run)
    return bool(workloads) and all(
        work.update_flop <= SMALL_UPDATE and work.memory_mb <= SMALL_MB for work in workloads
    )


def run_memory(dataset: Dataset | CustomDataset, run: Run) -> float:
    """Peak memory of a run in megabytes."""
    trainings = [work.memory_mb for work in run_workloads(dataset, run)]
    if trainings:
        return LIBRARIES_MB + max(trainings)
    return fitting_memory(cells(dataset))


def fitting_memory(table_cells: int) -> float:
    """Peak memory of the fit of a baseline in megabytes."""
    return LIBRARIES_MB + 8 * 8 * table_cells / 1e6


def preparing_memory(table_cells: int) -> float:
    """Peak memory of preparing a dataset in megabytes."""
    return LIBRARIES_MB + 10 * 8 * table_cells / 1e6


def reading_memory(rows: int) -> float:
    """Peak memory of collecting or showing rows in megabytes."""
    return READING_MB + ROW_MB * rows


def requested_memory(megabytes: float, attempt: int) -> int:
    """Megabytes to request: with a margin, in steps, doubled at every attempt."""
    steps = -(-int(MARGIN * megabytes) // MEMORY_STEP)
    return steps * MEMORY_STEP * 2 ** (attempt - 1)
