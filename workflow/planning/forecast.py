"""What a plan will cost, from its operations and from what was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from baselines import baselines, methods
from workflow.config.old_reading import Config, read_file
from workflow.config.old_settings import as_json, typed_settings
from workflow.config.old_study import Study
from workflow.planning import resources
from workflow.planning.old_plan import Plan
from workflow.planning.runs import Run
from workflow.studies.kinds import KINDS

ROOT = Path(__file__).parents[2]
MEASURED, REFERENCE = ROOT / "performance" / "results", ROOT / "results" / "reference"
JOB_SECONDS = 2.0  # of a core, for starting Python and its libraries


@dataclass(frozen=True)
class Cost:
    """Jobs of a study that no earlier one has, operations of its trainings and probes, and seconds of one CPU core.

    `cpu_seconds` are those of everything on a CPU, `other_seconds` those of what a GPU does not do; both without the methods
    that were not `measured`.
    """

    study: str
    jobs: int
    flop: float
    cpu_seconds: float
    other_seconds: float
    unmeasured: tuple[str, ...] = ()


def estimate(plan: Plan) -> list[Cost]:
    """The cost of every study of a plan, each run counted with the first study that has it, and of what is left for all."""
    counted: set[str] = set()
    costs = []
    for study in plan.studies.values():
        asked = plan.runs_of(study)
        new = [run for run in asked if run.stem not in counted]
        counted |= {run.stem for run in new}
        trained = [run for run in new if methods()[run.method].saves_weights]
        flop = sum(resources.run_flop(plan.config, run) for run in trained)
        cpu = sum(
            seconds_of_training(
                resources.run_flop(plan.config, run), _update_flop(plan.config, run)
            )
            for run in trained
        )
        searches = {
            run.stem: (run, seconds_of_search(plan.config, run))
            for run in new
            if not methods()[run.method].saves_weights
        }
        unmeasured = tuple(
            dict.fromkeys(run.method for run, seconds in searches.values() if seconds is None)
        )
        other = sum(seconds or 0.0 for _, seconds in searches.values())
        jobs = len(new) + 2
        if KINDS[study.kind].probe:
            probed = [run for run in asked if methods()[run.method].saves_weights]
            operations = [_probe_flop(plan.config, study, run) for run in probed]
            flop += sum(operations)
            cpu += sum(
                seconds_of_training(one, _update_flop(plan.config, run))
                for one, run in zip(operations, probed, strict=True)
            )
            jobs += len(asked)
        other += JOB_SECONDS * jobs
        costs.append(Cost(study.name, jobs, flop, cpu + other, other, unmeasured))
    rest = len(plan.datasets) + 1
    return [*costs, Cost("data and page", rest, 0.0, JOB_SECONDS * rest, JOB_SECONDS * rest)]


def shown(costs: Sequence[Cost], gpu_teraflops: float | None) -> str:
    """A table of costs; hours with a GPU for a rate in 10^12 operations a second."""
    rate = gpu_teraflops or measured_gpu()
    rows = [
        {
            "study": cost.study,
            "jobs": f"{cost.jobs:,}",
            "PFLOP": _petaflop(cost.flop),
            "CPU core hours, all on CPU": _hours(cost.cpu_seconds),
            "CPU core hours beside a GPU": _hours(cost.other_seconds),
            "GPU hours": _hours(cost.flop / (1e12 * rate)) if rate else "not measured",
        }
        for cost in [*costs, _total(costs)]
    ]
    lines = [
        f"GPU hours at {rate:g} TFLOP/s."
        if rate
        else "For hours of a GPU give its --gpu-teraflops."
    ]
    if lacking := sorted({method for cost in costs for method in cost.unmeasured}):
        lines.append(f"Without the searches of {', '.join(lacking)}, of which none was measured.")
    return "\n".join(
        [pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True), "", *lines]
    )


def seconds_of_training(flop: float, update_flop: float) -> float:
    """Seconds of one core for so many operations, at the rate that was measured for updates of that size."""
    sizes, rates = measured_cpu()
    return (
        flop / float(np.exp(np.interp(np.log(update_flop), np.log(sizes), np.log(rates))))
        if flop
        else 0.0
    )


@cache
def measured_cpu() -> tuple[list[float], list[float]]:
    """Operations of an update and operations a second of one core, in ascending order: default run, and paper's sizes."""
    config = _default_run()
    rows = pd.read_csv(REFERENCE / "quick" / "main.csv")
    found = {}
    for dataset, part in rows[rows["method"] == "npt"].groupby("dataset"):
        run = Run(str(dataset), "npt", "base", (0,), _npt_settings(config, str(dataset)), "")
        found[_update_flop(config, run)] = (
            resources.run_flop(config, run) / part["fit_seconds"].median()
        )
    steps = json.loads((MEASURED / "npt_step.cpu.json").read_text())
    for row in steps["rows"]:
        if row["implementation"] == "npt, float32":
            flop = 1e12 * row["teraflop"]
            found[flop] = flop / (row["step_ms"] / 1000) / steps["threads"]
    sizes = sorted(found)
    return sizes, [found[size] for size in sizes]


def measured_gpu() -> float | None:
    """Operations of a training step on a GPU in 10^12 a second, the median over the paper's sizes; None if not measured."""
    path = MEASURED / "npt_step.cuda.json"
    if not path.exists():
        return None
    rows = [
        row
        for row in json.loads(path.read_text())["rows"]
        if row["implementation"] == "npt, float32"
    ]
    return (
        float(np.median([row["teraflop"] / (row["step_ms"] / 1000) for row in rows]))
        if rows
        else None
    )


def seconds_of_search(config: Config, run: Run) -> float | None:
    """Seconds of one core for a baseline's search on all its folds, from the measured one nearest in size, if any is."""
    known = measured_searches()
    known = known[known["method"] == run.method]
    if known.empty:
        return None
    cells = resources.shape_of(config.datasets[run.dataset], {}).cells
    configurations = _configurations(config, run)
    distance = np.abs(np.log(known["cells"] / cells)) + np.abs(
        np.log(known["configurations"] / configurations)
    )
    nearest = known.iloc[int(np.argmin(distance))]
    scale = cells / nearest["cells"] * configurations / nearest["configurations"]
    return float(len(run.folds) * nearest["seconds"] * scale)


@cache
def measured_searches() -> pd.DataFrame:
    """Method, cells of the table, configurations and mean seconds a fold of the searches under results/reference."""
    config, frames = _default_run(), []
    for path in sorted(REFERENCE.glob("*/main.csv")):
        rows = pd.read_csv(path)
        rows = rows[(rows["status"] == "ok") & rows["configurations"].notna()]
        groups = rows.groupby(["method", "dataset"])
        frame = groups.agg(
            seconds=("fit_seconds", "mean"), configurations=("configurations", "mean")
        ).reset_index()
        frame["cells"] = [
            resources.shape_of(config.datasets[name], {}).cells for name in frame["dataset"]
        ]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@cache
def measured_deletion() -> float:
    """Passes over a whole batch that the deletion of one row's context took the time of; its batches shrink."""
    config, rows = _default_run(), pd.read_csv(REFERENCE / "quick" / "deletion.csv")
    dataset = str(rows["dataset"].iloc[0])
    settings = _npt_settings(config, dataset)
    forward = resources.forward_flop(
        resources.shape_of(config.datasets[dataset], settings), settings
    )
    return float(
        rows["probe_seconds"].sum() / rows["rows"].sum() / seconds_of_training(forward, 3 * forward)
    )


@cache
def _default_run() -> Config:
    """The configuration of results/reference/quick."""
    return read_file(ROOT / "config.yaml")


def _npt_settings(config: Config, dataset: str) -> dict[str, Any]:
    return as_json(config.resolve(dataset, "npt", {}))


def _configurations(config: Config, run: Run) -> int:
    settings = typed_settings(run.method, run.settings, run.stem)
    baseline = baselines()[run.method]
    dataset = config.datasets[run.dataset]
    train_rows = int(0.7 * resources.shape_of(dataset, {}).rows)
    number = sum(1 for _ in baseline.configurations(settings, dataset.expected_task, train_rows))
    return min(number, settings.budget or number)


def _update_flop(config: Config, run: Run) -> float:
    return 3 * resources.forward_flop(
        resources.shape_of(config.datasets[run.dataset], run.settings), run.settings
    )


def _probe_flop(config: Config, study: Study, run: Run) -> float:
    """Operations of a probe: a forward pass over the batch for each probed row, as many as the question needs."""
    dataset = config.datasets[run.dataset]
    shape = resources.shape_of(dataset, run.settings)
    tested = dataset.split_rule.fixed_test_rows or shape.rows // max(2, dataset.split_rule.folds)
    probed = min(study.rows or tested, tested)
    return len(run.folds) * probed * _passes(study) * resources.forward_flop(shape, run.settings)


def _passes(study: Study) -> float:
    """Forward passes for each probed row."""
    options = study.options
    if study.kind == "dose_response":
        return len(options.shuffle) + len(options.delete)
    if study.kind == "deletion":
        return measured_deletion()
    return 1.0 if study.kind in ("corruption", "attention") else 2.0


def _total(costs: Sequence[Cost]) -> Cost:
    jobs, flop = sum(cost.jobs for cost in costs), sum(cost.flop for cost in costs)
    return Cost(
        "all",
        jobs,
        flop,
        sum(cost.cpu_seconds for cost in costs),
        sum(cost.other_seconds for cost in costs),
    )


def _petaflop(flop: float) -> str:
    return f"{flop / 1e15:,.0f}" if flop > 1e17 else f"{flop / 1e15:.2g}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2f}" if seconds < 36_000 else f"{seconds / 3600:,.0f}"
