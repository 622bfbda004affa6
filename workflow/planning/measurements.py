"""Measured speeds of this project that forecasts extrapolate from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.nn.settings import NPTSettings
from workflow.config.models import Config
from workflow.config.reading import read_file
from workflow.config.resolution import resolve
from workflow.planning import resources
from workflow.planning.resources import Shape

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "performance" / "results"
REFERENCE = ROOT / "results" / "reference"
IMPLEMENTATION = "npt, float32"


@cache
def cpu_rates() -> tuple[list[float], list[float]]:
    """Operations of an update, ascending, and operations a second of one core in such updates."""
    rates = {**_rates_of_reference(), **_rates_of_steps()}
    sizes = sorted(rates)
    return sizes, [rates[size] for size in sizes]


def cpu_seconds(flop: float, update_flop: float) -> float:
    """Seconds of one core for operations in updates of a size."""
    if flop == 0:
        return 0.0
    sizes, rates = cpu_rates()
    log_rate = np.interp(np.log(update_flop), np.log(sizes), np.log(rates))
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
    config = reference_config()
    frames: list[pd.DataFrame] = []
    for path in sorted(REFERENCE.glob("*/main.csv")):
        rows = pd.read_csv(path)
        searched = (rows["status"] == "ok") & rows["configurations"].notna()
        groups = rows[searched].groupby(["method", "dataset"])
        means = groups[["fit_seconds", "configurations"]].mean()
        frame = means.reset_index()
        frame = frame.rename(columns={"fit_seconds": "seconds"})
        declarations = frame["dataset"].map(config.all_datasets)
        frame["cells"] = declarations.map(resources.cells)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@cache
def deletion_passes() -> float:
    """Full forward passes that cost as much as deleting the context of one row."""
    config = reference_config()
    rows = pd.read_csv(REFERENCE / "quick" / "deletion.csv")
    shape, settings = _network(config, str(rows["dataset"].iloc[0]))
    forward = resources.forward_flop(shape, settings)
    update = resources.update_flop(shape, settings)
    seconds_per_row = rows["probe_seconds"].sum() / rows["rows"].sum()
    return float(seconds_per_row / cpu_seconds(forward, update))


@cache
def reference_config() -> Config:
    """Configuration of results/reference/quick."""
    return read_file(REFERENCE / "quick" / "config.yaml")


def _rates_of_reference() -> dict[float, float]:
    config = reference_config()
    rows = pd.read_csv(REFERENCE / "quick" / "main.csv")
    networks = rows[rows["method"] == "npt"]
    seconds = networks.groupby("dataset")["fit_seconds"].median()
    rates: dict[float, float] = {}
    for dataset in seconds.index:
        shape, settings = _network(config, str(dataset))
        update = resources.update_flop(shape, settings)
        rates[update] = resources.training_flop(shape, settings) / seconds[dataset]
    return rates


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


def _network(config: Config, dataset: str) -> tuple[Shape, NPTSettings]:
    settings = resolve(config, dataset, "npt", {})
    return resources.shape_of(config.all_datasets[dataset], settings), settings
