"""Forecasts of operations and hours, compared with the paper and with measured runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from npt.workload import Workload
from workflow.config.method_settings import as_json
from workflow.config.reading import read_file
from workflow.config.resolution import resolve
from workflow.planning import measurements, resources
from workflow.planning.forecast import JOB_SECONDS, Cost, estimate, table
from workflow.planning.measurements import cpu_rates
from workflow.planning.plan import Plan

ROOT = Path(__file__).parents[3]
PAPER = ROOT / "workflow" / "configs" / "paper.yaml"
QUICK = ROOT / "config.yaml"
REFERENCE = ROOT / "results" / "reference" / "quick"
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


def npt_workload(dataset: str, changes: dict[str, bool]) -> Workload:
    config = read_file(PAPER)
    settings = as_json(resolve(config, dataset, "npt", changes))
    work = resources.workload(config.all_datasets[dataset], "npt", settings)
    assert work is not None
    return work


def costs_of(path: Path) -> dict[str, Cost]:
    return {cost.study: cost for cost in estimate(Plan.of(read_file(path)))}


@pytest.mark.parametrize(("dataset", "teraflop"), TERAFLOP_OF_AN_UPDATE.items())
def test_operations_of_the_papers_updates(dataset: str, teraflop: float) -> None:
    work = npt_workload(dataset, {})
    assert work.update_flop / 1e12 == pytest.approx(teraflop, rel=0.03)


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
    work = npt_workload(dataset, changes)
    assert work.query_flop / 1e12 == pytest.approx(teraflop, rel=0.02)


def test_reference_run_within_a_factor_of_two() -> None:
    costs = costs_of(REFERENCE / "config.yaml")
    seconds = {
        "main": "fit_seconds",
        "ablation": "fit_seconds",
        "corruption": "probe_seconds",
        "deletion": "probe_seconds",
    }
    forecast = 0.0
    measured = 0.0
    for study, column in seconds.items():
        path = REFERENCE / f"{study}.csv"
        if not path.exists():
            continue
        rows = pd.read_csv(path)
        if study == "ablation":
            rows = rows[rows["variant"] != "base"]
        measured += rows[column].sum()
        forecast += costs[study].cpu_seconds - JOB_SECONDS * costs[study].jobs
    assert 0.5 < forecast / measured < 2


def test_rates_are_those_of_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rates = cpu_rates("npt")
    edited = QUICK.read_text().replace("width: ", "width: 1")
    (tmp_path / "config.yaml").write_text(edited)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measurements, "ROOT", tmp_path)
    for measured in (cpu_rates, measurements.reference_plan):
        measured.cache_clear()
    assert cpu_rates("npt") == rates


def test_run_counts_with_the_first_study() -> None:
    costs = costs_of(PAPER)
    assert costs["table_13_yacht"].flop == 0
    assert 500 < sum(cost.jobs for cost in costs.values()) < 1000
    assert costs["main"].flop > 1e19


def test_gpu_hours_need_a_rate() -> None:
    costs = list(costs_of(QUICK).values())
    assert "not measured" not in table(costs, 10.0)


def test_larger_updates_are_faster() -> None:
    sizes, rates = cpu_rates("npt")
    assert sizes == sorted(sizes)
    assert len(sizes) == 6
    assert rates[-1] > rates[0] > 1e9
