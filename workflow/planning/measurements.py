"""Measured speeds of this project that forecasts extrapolate from."""

from __future__ import annotations

import json
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
    rates: list[float] = []
    for row in _step_rows(path):
        rates.append(row["teraflop"] / (row["step_ms"] / 1000))
    if not rates:
        return None
    return float(np.median(rates))


@cache
def searches() -> pd.DataFrame:
    """Reference searches: method, cells of the table, configurations, mean seconds a fold."""
    config = default_config()
    frames: list[pd.DataFrame] = []
    for path in sorted(REFERENCE.glob("*/main.csv")):
        rows = pd.read_csv(path)
        rows = rows[(rows["status"] == "ok") & rows["configurations"].notna()]
        means = rows.groupby(["method", "dataset"])[["fit_seconds", "configurations"]].mean()
        frame = means.reset_index().rename(columns={"fit_seconds": "seconds"})
        declarations = [config.all_datasets[name] for name in frame["dataset"]]
        frame["cells"] = [resources.cells(declaration) for declaration in declarations]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@cache
def deletion_passes() -> float:
    """Full forward passes that cost as much as deleting the context of one row."""
    config = default_config()
    rows = pd.read_csv(REFERENCE / "quick" / "deletion.csv")
    shape, settings = _network(config, str(rows["dataset"].iloc[0]))
    forward = resources.forward_flop(shape, settings)
    seconds_per_row = rows["probe_seconds"].sum() / rows["rows"].sum()
    pass_seconds = cpu_seconds(forward, resources.update_flop(shape, settings))
    return float(seconds_per_row / pass_seconds)


@cache
def default_config() -> Config:
    """Configuration of results/reference/quick."""
    return read_file(ROOT / "config.yaml")


def _rates_of_reference() -> dict[float, float]:
    config = default_config()
    rows = pd.read_csv(REFERENCE / "quick" / "main.csv")
    rates: dict[float, float] = {}
    for dataset, part in rows[rows["method"] == "npt"].groupby("dataset"):
        shape, settings = _network(config, str(dataset))
        training = resources.training_flop(shape, settings)
        rates[resources.update_flop(shape, settings)] = training / part["fit_seconds"].median()
    return rates


def _rates_of_steps() -> dict[float, float]:
    path = STEPS / "npt_step.cpu.json"
    threads = json.loads(path.read_text())["threads"]
    rates: dict[float, float] = {}
    for row in _step_rows(path):
        flop = 1e12 * row["teraflop"]
        rates[flop] = flop / (row["step_ms"] / 1000) / threads
    return rates


def _step_rows(path: Path) -> list[dict[str, Any]]:
    rows = json.loads(path.read_text())["rows"]
    return [row for row in rows if row["implementation"] == IMPLEMENTATION]


def _network(config: Config, dataset: str) -> tuple[Shape, NPTSettings]:
    settings = resolve(config, dataset, "npt", {})
    return resources.shape_of(config.all_datasets[dataset], settings), settings
