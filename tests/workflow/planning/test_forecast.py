"""Forecasts of operations and hours, compared with the paper and with measured runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workflow.config.reading import read_file
from workflow.config.resolution import resolve
from workflow.planning import measurements, resources
from workflow.planning.forecast import JOB_SECONDS, Cost, estimate, table
from workflow.planning.measurements import cpu_rates
from workflow.planning.plan import Plan

ROOT = Path(__file__).parents[3]
PAPER = ROOT / "workflow" / "configs" / "paper.yaml"
QUICK = ROOT / "config.yaml"
TERAFLOP_OF_AN_UPDATE = {
    "yacht": 0.092,
    "boston_housing": 0.566,
    "breast_cancer": 0.197,
    "concrete": 0.533,
    "protein": 1.411,
    "kick": 7.588,
    "income": 5.279,
    "poker_hand": 1.259,
    "forest_cover": 7.649,
    "higgs": 6.059,
}


def costs_of(path: Path) -> dict[str, Cost]:
    return {cost.study: cost for cost in estimate(Plan.of(read_file(path)))}


@pytest.mark.parametrize(("dataset", "teraflop"), TERAFLOP_OF_AN_UPDATE.items())
def test_operations_of_the_papers_updates(dataset: str, teraflop: float) -> None:
    config = read_file(PAPER)
    settings = resolve(config, dataset, "npt", {})
    shape = resources.shape_of(config.all_datasets[dataset], settings)
    assert resources.update_flop(shape, settings) / 1e12 == pytest.approx(teraflop, rel=0.03)


@pytest.mark.parametrize(
    ("dataset", "changes", "teraflop"),
    [
        ("yacht", {"between_datapoints": False}, 0.0037),
        ("protein", {"between_attributes": False}, 0.4349),
    ],
)
def test_ablations_have_half_the_blocks(
    dataset: str, changes: dict[str, bool], teraflop: float
) -> None:
    config = read_file(PAPER)
    settings = resolve(config, dataset, "npt", changes)
    shape = resources.shape_of(config.all_datasets[dataset], settings)
    assert resources.forward_flop(shape, settings) / 1e12 == pytest.approx(teraflop, rel=0.02)


def test_default_run_within_a_factor_of_two() -> None:
    costs = costs_of(QUICK)
    seconds = {
        "main": "fit_seconds",
        "ablation": "fit_seconds",
        "corruption": "probe_seconds",
        "deletion": "probe_seconds",
    }
    forecast = 0.0
    measured = 0.0
    for study, column in seconds.items():
        rows = pd.read_csv(ROOT / "results" / "reference" / "quick" / f"{study}.csv")
        if study == "ablation":
            rows = rows[rows["variant"] != "base"]
        measured += rows[column].sum()
        forecast += costs[study].cpu_seconds - JOB_SECONDS * costs[study].jobs
    assert 0.5 < forecast / measured < 2


def test_rates_are_those_of_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rates = cpu_rates()
    edited = QUICK.read_text().replace("width: ", "width: 1")
    (tmp_path / "config.yaml").write_text(edited)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measurements, "ROOT", tmp_path)
    for measured in (cpu_rates, measurements.reference_config):
        measured.cache_clear()
    assert cpu_rates() == rates


def test_run_counts_with_the_first_study() -> None:
    costs = costs_of(PAPER)
    assert costs["table_13_yacht"].flop == 0
    assert 500 < sum(cost.jobs for cost in costs.values()) < 1000
    assert costs["main"].flop > 1e19


def test_gpu_hours_need_a_rate() -> None:
    costs = list(costs_of(QUICK).values())
    assert "not measured" in table(costs, None)
    assert "not measured" not in table(costs, 10.0)


def test_larger_updates_are_faster() -> None:
    sizes, rates = cpu_rates()
    assert sizes == sorted(sizes)
    assert len(sizes) == 7
    assert rates[-1] > rates[0] > 1e9
