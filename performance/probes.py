"""Probes of a trained NPT with many copies in a forward pass, compared with a plain loop.

Tables are generated in the sizes of real ones, and the weights are initial. Both ways probe the
same rows with the same draws, by turns in one process. The largest difference of their predictions
is recorded. Peak memory is that of each way in a process of its own, beyond what it held before.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import torch

from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.interface import Resources
from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch, query_batches
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.perturbation import Perturbation
from npt.table import Column, Table
from performance.machine import (
    parser,
    peak_megabytes,
    reset_peak,
    seconds,
    start,
    write,
)
from performance.table_columns import PROBES, print_row, print_titles
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.algorithm import FLOOR, deletions

EVERY_PROPOSAL = DeletionOptions(tolerance=10, limit=10, left=0.9)
"""Accepts every deletion, so that both ways do the same forward passes."""
FIRST_STEPS = EVERY_PROPOSAL.model_copy(update={"left": 0.99})
"""The first deletions, which have the largest contexts."""
SHUFFLE_ALL = Perturbation("shuffle", 1.0)

Action = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Case:
    """Sizes of a table and of an NPT."""

    name: str
    rows: int
    columns: int
    width: int
    layers: int = 4
    heads: int = 4


CASES = {
    "cpu": (
        Case("yacht", 308, 7, 16),
        Case("concrete", 1030, 9, 16),
        Case("breast_cancer", 569, 31, 8),
    ),
    "cuda": (
        Case("yacht", 308, 7, 128, 8, 8),
        Case("concrete", 1030, 9, 128, 8, 8),
        Case("protein batch", 2048, 10, 128, 8, 8),
    ),
}


@dataclass(frozen=True)
class Probe:
    """A probe of some rows, in batches of copies and in a plain loop."""

    name: str
    rows: np.ndarray
    batched: Action
    plain: Action


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=16, help="test rows to probe")
    options.add_argument("--repeats", type=int, default=3)
    arguments = options.parse_args()
    device = start(arguments)
    rows = []
    print_titles(PROBES)
    for case in CASES[device.type]:
        trained, queries = _model(case, arguments)
        for probe in _probes(trained, queries, EVERY_PROPOSAL):
            row = _row(case, probe)
            row |= _times(probe, arguments.repeats, device)
            row |= _peaks(case, probe.name, arguments)
            print_row(row, PROBES)
            rows.append(row)
    write(arguments, "probes", rows)


def _model(case: Case, arguments: argparse.Namespace) -> tuple[TrainedNPT, np.ndarray]:
    """An NPT with initial weights, and test rows to probe."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=(case.rows, case.columns))
    columns = [Column(f"x{index}", "continuous") for index in range(case.columns)]
    table = Table.of(columns, values, case.columns - 1)
    split = splits(table, SplitRule())[0]
    settings = NPTSettings(
        width=case.width,
        layers=case.layers,
        heads=case.heads,
        target_mask=0.5,
    )
    resources = Resources(arguments.threads, arguments.device)
    blind = table.blind(split.test)
    trained = TrainedNPT.untrained(settings, resources, blind, split, 0)
    return trained, split.test[: arguments.rows]


def _probes(
    trained: TrainedNPT,
    rows: np.ndarray,
    options: DeletionOptions,
) -> list[Probe]:
    """Corruption of all rows, and deletion for half of them."""
    few = rows[: max(1, len(rows) // 2)]

    def corrupted() -> np.ndarray:
        return trained.predict_perturbed(rows, SHUFFLE_ALL, 0).values

    def plainly_corrupted() -> np.ndarray:
        return np.array([_corrupted_prediction(trained, int(row)) for row in rows])

    def deleted() -> np.ndarray:
        results = deletions(trained, few, options, 0)
        return np.array([result.change for result in results])

    def plainly_deleted() -> np.ndarray:
        return np.array([_change_by_deletions(trained, int(row), options) for row in few])

    return [
        Probe("corruption", rows, corrupted, plainly_corrupted),
        Probe("deletion", few, deleted, plainly_deleted),
    ]


def _corrupted_prediction(trained: TrainedNPT, row: int) -> float:
    batch, query = _batch_of(trained, row)
    sources = SHUFFLE_ALL.sources(0, row, query, batch.layout)
    return _prediction(trained, batch, sources)


def _change_by_deletions(
    trained: TrainedNPT,
    row: int,
    options: DeletionOptions,
) -> float:
    """Relative change of a prediction after all deletions, one forward pass each."""
    batch, query = _batch_of(trained, row)
    context_rows, columns = batch.shape
    draws = np.random.default_rng((0, row))
    left = np.delete(np.arange(context_rows), query)
    floor = FLOOR * trained.statistics.scale[trained.data.target]

    def predict() -> float:
        context = np.concatenate([[query], left])
        sources = np.repeat(context[:, None], columns, 1)
        return _prediction(trained, batch, sources)

    original = predict()
    scale = max(abs(original), floor)
    change = 0.0
    while len(left) >= options.left * context_rows:
        deleted = int(draws.integers(len(left)))
        left = np.delete(left, deleted)
        change = abs(predict() - original) / scale
    return change


def _batch_of(trained: TrainedNPT, row: int) -> tuple[QueryBatch, int]:
    """The batch of a row, and the index of the row within it."""
    (batch,) = query_batches(trained, np.array([row]))
    (query,) = batch.queries.tolist()
    return batch, query


def _prediction(
    trained: TrainedNPT,
    batch: QueryBatch,
    sources: np.ndarray,
) -> float:
    """Prediction of the first row of a context (m, d), in a pass that predicts all rows."""
    rows = torch.from_numpy(sources)[None].to(trained.device)
    inputs = batch.inputs.gather_rows(rows)
    with evaluating(trained.settings, trained.device):
        outputs = trained.model.predict_target(inputs)
    return float(trained.decode(outputs[0, :1]).values[0])


def _row(case: Case, probe: Probe) -> dict[str, Any]:
    """What is measured."""
    return {
        "table": case.name,
        "rows": case.rows,
        "columns": case.columns,
        "width": case.width,
        "probe": probe.name,
        "probed": len(probe.rows),
    }


def _times(
    probe: Probe,
    repeats: int,
    device: torch.device,
) -> dict[str, float]:
    """Milliseconds per row of both ways, their ratio, and the difference of their results."""
    batched = []
    plain = []
    difference = np.abs(probe.batched() - probe.plain()).max()  # warms up
    for _ in range(repeats):
        batched.append(seconds(probe.batched, device))
        plain.append(seconds(probe.plain, device))
    ratios = np.divide(plain, batched)
    return {
        "batched_ms": 1000 * median(batched) / len(probe.rows),
        "plain_ms": 1000 * median(plain) / len(probe.rows),
        "ratio": float(np.median(ratios)),
        "difference": float(difference),
    }


def _peaks(
    case: Case,
    probe: str,
    arguments: argparse.Namespace,
) -> dict[str, float]:
    """Peak memory of both ways."""
    peaks = {}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for way in ("batched", "plain"):
            peaks[f"{way}_mb"] = pool.apply(peak, (case, probe, way, arguments))
    return peaks


def peak(
    case: Case,
    name: str,
    way: str,
    arguments: argparse.Namespace,
) -> float:
    """Memory in MiB of a probe beyond the model and the data."""
    device = torch.device(arguments.device)
    trained, rows = _model(case, arguments)
    (probe,) = [probe for probe in _probes(trained, rows, FIRST_STEPS) if probe.name == name]
    batch, _ = _batch_of(trained, int(rows[0]))
    two_rows = np.zeros((2, batch.shape[1]), np.int64)
    _prediction(trained, batch, two_rows)  # loads the libraries
    reset_peak(device)
    before = peak_megabytes(device)
    getattr(probe, way)()
    return peak_megabytes(device) - before


if __name__ == "__main__":
    main()
