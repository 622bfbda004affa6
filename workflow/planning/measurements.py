"""Measured speeds of this project that forecasts extrapolate from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data.datasets import datasets
from npt.workload import Workload
from workflow.config.reading import read_file
from workflow.planning import resources
from workflow.planning.plan import Plan

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "performance" / "results"
REFERENCE = ROOT / "results" / "reference"
STEPPED = "npt"  # the method whose training steps performance/npt_step.py measures
IMPLEMENTATION = "npt, float32"


@cache
def cpu_rates(method: str) -> tuple[list[float], list[float]]:
    """Operations of an update, ascending, and operations a second of one core in such updates.

    A method that was never measured has the rates of NPT.
    """
    rates = _rates_of_reference(method)
    if method == STEPPED:
        rates |= _rates_of_steps()
    if not rates:
        return cpu_rates(STEPPED)
    sizes = sorted(rates)
    return sizes, [rates[size] for size in sizes]


def cpu_seconds(method: str, flop: float, update_flop: float) -> float:
    """Seconds of one core for operations of a method in updates of a size."""
    if flop == 0:
        return 0.0
    sizes, rates = cpu_rates(method)
    log_rate = np.interp(
        np.log(update_flop),
        np.log(sizes),
        np.log(rates),
    )
    return flop / float(np.exp(log_rate))


def gpu_teraflops() -> float | None:
    """Median rate of training steps on a GPU in 10^12 operations a second; None if unmeasured."""
    path = STEPS / "npt_step.cuda.json"
    if not path.exists():
        return None
    measured = json.loads(path.read_text())
    rates: list[float] = []
    for row in measured["rows"]:
        if row["implementation"] == IMPLEMENTATION:
            rates.append(row["teraflop"] / _seconds(row))
    if not rates:
        return None
    return float(np.median(rates))


@cache
def searches() -> pd.DataFrame:
    """Reference searches: method, cells of the table, configurations, mean seconds a fold."""
    known = {**datasets(), **reference_plan().custom_datasets}
    frames: list[pd.DataFrame] = []
    for path in sorted(REFERENCE.glob("*/main.csv")):
        rows = pd.read_csv(path)
        searched = (rows["status"] == "ok") & rows["configurations"].notna()
        groups = rows[searched].groupby(["method", "dataset"])
        means = groups[["fit_seconds", "configurations"]].mean()
        frame = means.reset_index()
        frame = frame.rename(columns={"fit_seconds": "seconds"})
        declarations = frame["dataset"].map(known)
        frame["cells"] = declarations.map(resources.cells)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@cache
def deletion_passes() -> float:
    """Full forward passes that cost as much as deleting the context of one row."""
    rows = _reference_rows("deletion", STEPPED)
    seconds_per_row = rows["probe_seconds"].sum() / rows["rows"].sum()
    plan = reference_plan()
    probed = [plan.runs[stem] for stem in plan.studies["deletion"].runs]
    run = next(run for run in probed if run.method == STEPPED)
    dataset = plan.dataset(run.dataset)
    work = resources.run_workloads(dataset, run)[0]
    seconds_per_pass = cpu_seconds(STEPPED, work.query_flop, work.update_flop)
    return float(seconds_per_row / seconds_per_pass)


@cache
def reference_plan() -> Plan:
    """Plan of the configuration of results/reference/quick."""
    return Plan.of(read_file(REFERENCE / "quick" / "config.yaml"))


def _rates_of_reference(method: str) -> dict[float, float]:
    """Rates of the trainings of the reference run by dataset, those of a search taken together."""
    plan = reference_plan()
    rows = _reference_rows("main", method)
    seconds = rows.groupby("dataset")["fit_seconds"].sum()
    rates: dict[float, float] = {}
    for dataset in seconds.index:
        trainings: list[Workload] = []
        for run in plan.runs_of(plan.studies["main"]):
            if run.method == method and run.dataset == dataset:
                of_fold = resources.run_workloads(plan.dataset(dataset), run)
                trainings += len(run.folds) * of_fold
        flop = sum(work.training_flop for work in trainings)
        update_flop = float(np.mean([work.update_flop for work in trainings]))
        rates[update_flop] = flop / seconds[dataset]
    return rates


def _reference_rows(study: str, method: str) -> pd.DataFrame:
    """Rows of a method in a study of the reference run."""
    rows = pd.read_csv(REFERENCE / "quick" / f"{study}.csv")
    return rows[rows["method"] == method]


def _rates_of_steps() -> dict[float, float]:
    measured = json.loads((STEPS / "npt_step.cpu.json").read_text())
    rates: dict[float, float] = {}
    for row in measured["rows"]:
        if row["implementation"] == IMPLEMENTATION:
            flop = 1e12 * row["teraflop"]
            rates[flop] = flop / _seconds(row) / measured["threads"]
    return rates


def _seconds(row: Mapping[str, Any]) -> float:
    return row["step_ms"] / 1000
