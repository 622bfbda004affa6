"""Probes of a trained NPT, many copies in a forward pass, beside the plain loop: a table at a time, predicted as a whole.

Tables are generated at the sizes of real ones, the weights are fresh; both ways are asked the same rows with the same draws, by
turns in one process, and the largest difference of their predictions is shown. Peak memory is that of each way in a process of
its own, beyond what that held before it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.interface import Resources
from npt.nn.learner import NPTLearner
from npt.nn.queries import QueryBatch, query_batches
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.perturbation import Perturbation
from npt.table import Column, Table
from performance.machine import begin, facts, forget_peak, parser, peak_megabytes, seconds, write
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.search import FLOOR, deletions

OPTIONS = DeletionOptions(
    tolerance=10, limit=10, left=0.9
)  # every proposal is accepted: the same passes on both sides
ALL = Perturbation("shuffle", 1.0)


@dataclass(frozen=True)
class Case:
    """A table's size, and the NPT's."""

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


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=16, help="test rows that are asked")
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    device = begin(given)
    lines = []
    head = f"{'table':>14} {'probe':>10} {'passes':>7} {'batched, ms a row':>18} {'plain, ms a row':>16} {'ratio':>6}"
    print(f"{head} {'batched, MB':>12} {'plain, MB':>10} {'difference':>11}")
    for case in CASES[device.type]:
        learner, rows = _learner(case, given.threads, str(device), given.rows)
        passes = _passes(learner, rows)
        for probe, (batched, plain) in _ways(learner, rows, OPTIONS).items():
            facts_of = {
                "table": case.name,
                "rows": case.rows,
                "columns": case.columns,
                "width": case.width,
                "probe": probe,
            }
            measured = _compare(batched, plain, given.repeats, device) | _peaks(case, probe, given)
            lines.append({**facts_of, "asked": len(rows), "passes": passes[probe], **measured})
            one = lines[-1]
            print(
                f"{case.name:>14} {probe:>10} {one['passes']:7} {one['batched_ms']:18.1f} {one['plain_ms']:16.1f} "
                f"{one['ratio']:6.2f} {one['batched_mb']:12.0f} {one['plain_mb']:10.0f} {one['difference']:11.1e}", flush=True,
            )  # fmt: skip
    write(given.json, {"benchmark": "probes", **facts(device), "rows": lines})


def _learner(case: Case, threads: int, device: str, asked: int) -> tuple[TrainedNPT, np.ndarray]:
    values = np.random.default_rng(0).normal(size=(case.rows, case.columns))
    names = [Column(f"x{j}", "continuous") for j in range(case.columns)]
    table = Table.of(names, values, case.columns - 1)
    split = splits(table, SplitRule())[0]
    settings = NPTSettings(
        width=case.width, layers=case.layers, heads=case.heads, target_mask=0.5, updates=1
    )
    learner = NPTLearner(settings, Resources(threads, device))
    learner.fit(table.blind(split.test), split, 0)
    return learner.trained, split.test[:asked]


Action = Callable[[], np.ndarray]


def _ways(
    learner: TrainedNPT, rows: np.ndarray, options: DeletionOptions
) -> dict[str, tuple[Action, Action]]:
    """For every probe its batched way and the plain one."""
    n, few = len(learner.data.part), _few(rows)
    return {
        "corruption": (
            lambda: learner.predict_perturbed(rows, ALL, 0).values,
            lambda: _plain(learner, rows, lambda row, place, d: ALL.sources(0, row, place, (n, d))),
        ),
        "deletion": (
            lambda: np.array([one.change for one in deletions(learner, few, options, 0)]),
            lambda: np.array([_plain_deletion(learner, int(row), options) for row in few]),
        ),
    }


def _passes(learner: TrainedNPT, rows: np.ndarray) -> dict[str, int]:
    """Forward passes of the plain way."""
    proposals = [1 + one.passes for one in deletions(learner, _few(rows), OPTIONS, 0)]
    return {"corruption": len(rows), "deletion": sum(proposals)}


def _few(rows: np.ndarray) -> np.ndarray:
    return rows[: max(1, len(rows) // 2)]


def _plain(
    learner: TrainedNPT, rows: np.ndarray, sources: Callable[[int, int, int], np.ndarray]
) -> np.ndarray:
    found = {}
    for batch in query_batches(learner, rows):
        for place in batch.queries.tolist():
            row = int(batch.rows[place])
            found[row] = _one(learner, batch, sources(row, place, batch.shape[1]))
    return np.array([found[int(row)] for row in rows])


@torch.no_grad()
def _one(learner: TrainedNPT, batch: QueryBatch, sources: np.ndarray) -> float:
    """The prediction of the first row of a table of its own, with all the others predicted too."""
    made = batch.inputs.gather_rows(torch.from_numpy(sources)[None].to(batch.rows.device))
    return float(learner.decode(learner.model.predict_target(made)[0, :1]).values[0])


def _plain_deletion(learner: TrainedNPT, row: int, options: DeletionOptions) -> float:
    (batch,) = query_batches(learner, np.array([row]))
    (place,) = batch.queries.tolist()
    draws, left = np.random.default_rng((0, row)), np.delete(np.arange(batch.shape[0]), place)
    floor = FLOOR * learner.statistics.scale[learner.data.target]

    def predict(others: np.ndarray) -> float:
        return _one(
            learner, batch, np.repeat(np.concatenate([[place], others])[:, None], batch.shape[1], 1)
        )

    original, change = predict(left), 0.0
    while len(left) >= options.left * batch.shape[0]:
        left = np.delete(left, int(draws.integers(len(left))))
        change = abs(predict(left) - original) / max(abs(original), floor)
    return change


def _compare(batched: Action, plain: Action, repeats: int, device: torch.device) -> dict[str, Any]:
    times: dict[str, list[float]] = {"batched": [], "plain": []}
    answers: dict[str, np.ndarray] = {}
    for _ in range(1 + repeats):  # the first is for warming up
        for name, action in (("batched", batched), ("plain", plain)):
            times[name].append(
                seconds(lambda name=name, action=action: answers.update({name: action()}), device)
            )
    each = {
        name: 1000 * statistics.median(values[1:]) / len(answers[name])
        for name, values in times.items()
    }
    pairs = zip(times["plain"][1:], times["batched"][1:], strict=True)
    return {
        "batched_ms": each["batched"],
        "plain_ms": each["plain"],
        "ratio": statistics.median(slow / quick for slow, quick in pairs),
        "difference": float(np.abs(answers["batched"] - answers["plain"]).max()),
    }


def _peaks(case: Case, probe: str, given: argparse.Namespace) -> dict[str, float]:
    ways = {"batched_mb": 0, "plain_mb": 1}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return {
            name: pool.apply(_peak, (case, probe, way, given.threads, given.device, given.rows))
            for name, way in ways.items()
        }


def _peak(case: Case, probe: str, way: int, threads: int, device_name: str, asked: int) -> float:
    """Megabytes that a probe needs beyond the model and the data; of a deletion, its first steps, which are the largest."""
    device = torch.device(device_name)
    torch.set_num_threads(threads)
    learner, rows = _learner(case, threads, device_name, asked)
    (batch,) = query_batches(learner, rows[:1])
    _one(
        learner, batch, np.zeros((2, batch.shape[1]), np.int64)
    )  # what the libraries take once is not the probe's
    action = _ways(learner, rows, replace(OPTIONS, left=0.99))[probe][way]
    forget_peak(device)
    before = peak_megabytes(device)
    action()
    return peak_megabytes(device) - before


if __name__ == "__main__":
    main()
