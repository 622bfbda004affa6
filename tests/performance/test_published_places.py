"""Every number that the paper prints stands beside the model that it is of."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data.datasets import datasets
from npt.metrics import METRICS
from performance.reproduction.cells import PublishedCell, published_cells
from performance.reproduction.quantities import (
    Ablated,
    Change,
    ConfigurationRank,
    LookedUp,
    MeanRank,
    Score,
)
from performance.reproduction.sources import Source, planned_sources
from workflow.config.scoring import Scoring
from workflow.planning.planned_study import Expected
from workflow.report.published import published, scaled
from workflow.results.row import recorded_settings
from workflow.studies import kinds
from workflow.studies.ablation.paper import paper_table

FIVE_FOLD_BASE = (4, "base, five folds", "Protein")  # 3.40, beside the 3.41 of one fold
RESIDUAL_NETWORK = (2, "CIFAR-10", "Change")  # in a test of its own
WITHOUT_A_PLACE = {RESIDUAL_NETWORK, FIVE_FOLD_BASE}
SHOWN = ("ranks", "published", "corruption", "lookup", "ablation", "validation_ranks")
LOOKUP_NAMES = {
    "rmse": "npt",
    "nearest_rmse": "one_nn",
    "neighbours_rmse": "knn",
    "deep_kernel_learning_rmse": "dkl",
}
SCORING = Scoring({"regression": "rmse", "binary": "auroc", "multiclass": "accuracy"}, "paper")


def made_up(source: Source) -> pd.DataFrame:
    """Rows that a study needs, with numbers made up."""
    draw = np.random.default_rng(0)
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for expected in source.study.expected:
        key = (expected.dataset, expected.method, expected.variant, expected.fold)
        if key not in rows:
            rows[key] = made_up_row(source, expected, draw)
    return pd.DataFrame(rows.values())


def made_up_row(source: Source, expected: Expected, draw: np.random.Generator) -> dict[str, Any]:
    """Every column that a table of any kind reads."""
    task = datasets()[expected.dataset].task
    tested = {f"test_{name}": draw.random() for name, of in METRICS.items() if task in of.tasks}
    states = ("clean", "corrupted", "control_clean", "control")
    measure = "rmse" if task == "regression" else "accuracy"
    runs = {run.key: run for run in source.plan.runs_of(source.study)}
    run = runs.get(expected.key)
    return {
        "dataset": expected.dataset,
        "task": task,
        "method": expected.method,
        "variant": expected.variant,
        "fold": expected.fold,
        "seed": expected.seed,
        "status": "ok",
        "reason": "",
        "validation_loss": draw.random(),
        "options": json.dumps(source.study.options),
        "lookup": run.settings.get("lookup") if run else None,
        **(recorded_settings(run.settings) if run else {}),
        **tested,
        **{f"{state}_{measure}": draw.random() for state in states},
        **{name: draw.random() for name in LOOKUP_NAMES},
        **dict.fromkeys(("correlation", "alone_rmse", "constant_rmse"), 0.5),
        **{f"intervention_{name}": 0.5 for name in ("correlation", "slope", "rmse", "others")},
    }


@cache
def places() -> dict[tuple[Any, ...], float]:
    """Published numbers of all tables, by what they are of."""
    found: dict[tuple[Any, ...], float] = {}
    for source in planned_sources():
        kind = kinds()[source.study.kind]
        names = [name for name in kind.tables if name in SHOWN]
        study = made_up(source) if names else pd.DataFrame()
        if "encoder" in study:
            continue
        for name in names:
            tidy = kind.table(name, study, SCORING).tidy
            variants = tidy.groupby("dataset")["variant"].agg(set) if name == "ablation" else {}
            for row in tidy.to_dict("records"):
                if name == "ablation":
                    row["paper"] = paper_table(row["dataset"], variants[row["dataset"]])
                for key, value in places_of(name, row):
                    if not math.isnan(value):
                        assert found.setdefault(key, value) == value, key
    return found


def places_of(table: str, row: dict[Any, Any]) -> Iterator[tuple[tuple[Any, ...], float]]:
    if table == "lookup":
        for column, name in LOOKUP_NAMES.items():
            yield (table, row["lookup"], column), row.get(f"published_{name}", math.nan)
    elif table == "ranks":
        yield (table, row["metric"], row["method"]), row["published"]
    elif table == "published":
        yield (table, row["dataset"], row["method"], row["metric"]), row["published"]
    elif table == "corruption":
        yield (table, row["dataset"]), row["published"]
    elif table == "ablation":
        yield (row["paper"], row["dataset"], row["variant"], row["metric"]), row["published"]
    else:
        yield (table, row["dataset"], row["variant"]), row["published"]


def place(cell: PublishedCell) -> tuple[Any, ...]:
    """Where a cell belongs."""
    quantity = cell.quantity
    match quantity:
        case MeanRank():
            return "ranks", metric_of(cell.column), quantity.method
        case Change():
            return "corruption", quantity.dataset
        case LookedUp():
            return "lookup", quantity.task, quantity.column
        case ConfigurationRank():
            return "validation_ranks", quantity.dataset, quantity.variant
        case Ablated():
            variant = quantity.variant
            unmasked = published()["table_5_ablation"]["without_feature_masking_by_default"]
            if variant == "no_feature_masking" and quantity.dataset in unmasked:
                variant = "base"
            return quantity.table, quantity.dataset, variant, quantity.metric
        case Score():
            return "published", quantity.dataset, quantity.method, quantity.metric
    raise AssertionError(cell)


def metric_of(title: str) -> str:
    (name,) = [name for name, metric in METRICS.items() if metric.title == title]
    return name


MODEL_CELLS = [
    cell
    for cell in published_cells()
    if cell.quantity and cell.key not in WITHOUT_A_PLACE and not math.isnan(cell.value)
]


def test_all_tables_but_those_of_costs_have_cells() -> None:
    assert {cell.table for cell in MODEL_CELLS} == set(range(1, 14)) - {6, 7}
    assert len(MODEL_CELLS) > 350


@pytest.mark.parametrize("table", sorted({cell.table for cell in MODEL_CELLS}))
def test_every_published_number_finds_its_place(table: int) -> None:
    for cell in MODEL_CELLS:
        if cell.table != table:
            continue
        scale = 1.0
        if isinstance(cell.quantity, Score | Ablated):
            scale = scaled({"value": 1.0}, cell.quantity.metric)[0]
        shown = places().get(place(cell))
        if isinstance(cell.quantity, Change) and shown is not None:
            shown = abs(shown)  # both signs occur in the table
            assert shown == pytest.approx(abs(cell.value)), cell.key
            continue
        assert shown == pytest.approx(scale * cell.value), cell.key


@pytest.mark.parametrize(
    ("dataset", "accuracy", "change"), [("mnist", 0.983, -0.4), ("cifar10", 0.682, -5.1)]
)
def test_numbers_of_linear_patches_stand_beside_them(
    dataset: str, accuracy: float, change: float
) -> None:
    assert places()["published", dataset, "npt", "accuracy"] == pytest.approx(accuracy)
    assert places()["corruption", dataset] == pytest.approx(change)


@pytest.mark.parametrize(
    ("title", "table", "expected"),
    [
        ("images.yaml: resnet", "published", 0.937),
        ("images.yaml: resnet_corruption", "corruption", -1.2),
    ],
)
def test_numbers_of_a_residual_network_stand_beside_it(
    title: str,
    table: str,
    expected: float,
) -> None:
    (source,) = [source for source in planned_sources() if source.title == title]
    study = made_up(source)
    tidy = kinds()[source.study.kind].table(table, study, SCORING).tidy
    shown = tidy[tidy["published"].notna()]
    assert list(shown["variant"]) == ["resnet18"]
    assert list(shown["published"]) == pytest.approx([expected])


def test_no_number_stands_beside_another_model() -> None:
    """The small tables of Table 2 belong to the variants that mask targets."""
    small = {"breast_cancer", "yacht", "boston_housing", "concrete"}
    (source,) = [
        source for source in planned_sources() if source.title == "paper.yaml: corruption_small"
    ]
    study = made_up(source).assign(variant="base")
    tidy = kinds()["corruption"].table("corruption", study, SCORING).tidy
    assert set(tidy["dataset"]) <= small
    assert tidy["published"].isna().all()
