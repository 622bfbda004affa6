"""What a configuration is said to cost, beside what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from workflow.config.reading import read
from workflow.planning import resources
from workflow.planning.forecast import JOB_SECONDS, estimate, measured_cpu, shown
from workflow.planning.old_plan import Plan

ROOT = Path(__file__).parents[3]
PAPER = {"yacht": 0.092, "boston_housing": 0.566, "breast_cancer": 0.197, "concrete": 0.533, "protein": 1.411, "kick": 7.588,
         "income": 5.279, "poker_hand": 1.259, "forest_cover": 7.649, "higgs": 6.059}  # fmt: skip


def plan(name: str) -> Plan:
    return Plan(read(yaml.safe_load((ROOT / name).read_text())))


@pytest.mark.parametrize(("dataset", "teraflop"), PAPER.items())
def test_the_operations_of_an_update_of_the_paper_s_configurations(
    dataset: str, teraflop: float
) -> None:
    config = plan("workflow/configs/paper.yaml").config
    settings = vars(config.resolve(dataset, "npt", {}))
    found = (
        3
        * resources.forward_flop(resources.shape_of(config.datasets[dataset], settings), settings)
        / 1e12
    )
    assert found == pytest.approx(teraflop, rel=0.03)


def test_the_default_run_within_a_factor_of_two_of_what_it_took() -> None:
    costs = {cost.study: cost for cost in estimate(plan("config.yaml"))}
    told = taken = 0.0
    for name, column in (
        ("main", "fit_seconds"),
        ("ablation", "fit_seconds"),
        ("corruption", "probe_seconds"),
        ("deletion", "probe_seconds"),
    ):
        rows = pd.read_csv(ROOT / f"results/reference/quick/{name}.csv")
        taken += (
            rows[rows["variant"] != "base"][column].sum()
            if name == "ablation"
            else rows[column].sum()
        )
        told += costs[name].cpu_seconds - JOB_SECONDS * costs[name].jobs
    assert 0.5 < told / taken < 2


def test_a_run_is_counted_with_the_first_study_that_has_it() -> None:
    costs = {cost.study: cost for cost in estimate(plan("workflow/configs/paper.yaml"))}
    assert costs["table_13_yacht"].flop == 0
    assert 500 < sum(cost.jobs for cost in costs.values()) < 1000
    assert costs["main"].flop > 1e19


def test_hours_of_a_gpu_are_told_for_a_rate_alone() -> None:
    costs = estimate(plan("config.yaml"))
    assert "not measured" in shown(costs, None)
    table = shown(costs, 10.0)
    assert "GPU hours at 10 TFLOP/s." in table
    assert "not measured" not in table


def test_larger_updates_go_faster_a_core() -> None:
    sizes, rates = measured_cpu()
    assert sizes == sorted(sizes) and len(sizes) == 7
    assert rates[-1] > rates[0] > 1e9


def asked(**wildcards: str) -> Any:
    from types import SimpleNamespace

    return SimpleNamespace(**wildcards)


def test_memory_grows_with_the_table_and_doubles_with_the_attempt() -> None:
    paper = plan("workflow/configs/paper.yaml")
    small, large = (
        asked(dataset=d, method="npt", variant="base", folds="0") for d in ("yacht", "protein")
    )
    assert paper.memory(large, 1) > 2 * paper.memory(small, 1) > 2 * 1000
    assert [paper.memory(small, attempt) for attempt in (1, 2, 3)] == [
        paper.memory(small, 1) * 2**n for n in range(3)
    ]
    assert 30 <= paper.minutes(small, 1) < paper.minutes(large, 1) <= 2880
    assert paper.minutes(small, 2) >= paper.minutes(small, 1)
    measured = pd.read_csv(ROOT / "results/reference/quick/main.csv").query("method == 'npt'")
    quick = plan("config.yaml")
    for row in measured.itertuples():
        wildcards = asked(dataset=row.dataset, method="npt", variant="base", folds=str(row.fold))
        assert row.peak_memory_mb < quick.memory(wildcards, 1) < 4 * row.peak_memory_mb
