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
from workflow.config.scoring import Scoring
from workflow.presentation.published import published
from workflow.reproduction.cells import Cell, published_cells
from workflow.reproduction.values import FULL_SIZE, Model, models_of
from workflow.results.row import recorded_settings
from workflow.studies import kinds

SHOWN = ("ranks", "published", "corruption", "lookup", "ablation")
LOOKUP_NAMES = {
    "rmse": "npt",
    "nearest_rmse": "one_nn",
    "neighbours_rmse": "knn",
    "deep_kernel_learning_rmse": "dkl",
}
SCORING = Scoring({"regression": "rmse", "binary": "auroc", "multiclass": "accuracy"}, "paper")

PLANNED: dict[str, list[Model]] = {}
for configuration in FULL_SIZE:
    for planned in models_of(configuration):
        PLANNED.setdefault(planned.source, []).append(planned)


def made_up(models: list[Model]) -> pd.DataFrame:
    """Rows that a study needs, with numbers made up."""
    draw = np.random.default_rng(0)
    rows = []
    for model in models:
        if model.variant == "tuned" or "tuned" not in model.variants:
            rows += [made_up_row(model, fold, draw) for fold in range(model.folds)]
    return pd.DataFrame(rows)


def made_up_row(model: Model, fold: int, draw: np.random.Generator) -> dict[str, Any]:
    """Every column that a table of any kind reads."""
    task = datasets()[model.dataset].task
    tested = {f"test_{name}": draw.random() for name, of in METRICS.items() if task in of.tasks}
    states = ("clean", "corrupted", "control_clean", "control")
    measure = "rmse" if task == "regression" else "accuracy"
    return {
        "dataset": model.dataset,
        "task": task,
        "method": model.method,
        "variant": model.variant,
        "fold": fold,
        "seed": 0,
        "status": "ok",
        "reason": "",
        "validation_loss": draw.random(),
        "options": json.dumps(model.study.options),
        "lookup": model.settings.get("lookup"),
        **recorded_settings(model.settings),
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
    for models in PLANNED.values():
        kind = kinds()[models[0].study.kind]
        names = [name for name in kind.view.tables if name in SHOWN]
        study = made_up(models) if names else pd.DataFrame()
        if "encoder" in study:
            continue
        for name in names:
            tidy = kind.view.table(name, study, SCORING).tidy
            for row in tidy.to_dict("records"):
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
    else:
        yield (row["paper_table"], row["dataset"], row["variant"], row["metric"]), row["published"]
        yield ("rank", row["dataset"], row["variant"]), row["published_rank"]


def place(cell: Cell) -> tuple[Any, ...]:
    """Where a cell belongs."""
    metric = cell.measure.removeprefix("test_")
    match cell.table:
        case 1:
            (name,) = [name for name in METRICS if METRICS[name].title == cell.column]
            (method,) = [part.method for part in cell.parts[:9] if part.row == cell.row]
            return "ranks", name, method
        case 2:
            return "corruption", cell.dataset
        case 3:
            return "lookup", cell.variant, cell.measure
        case 13:
            return "rank", cell.dataset, cell.variant
    if cell.kind == "benchmark":
        return "published", cell.dataset, cell.method, metric
    variant = cell.variant
    unmasked = published()["table_5_ablation"]["without_feature_masking_by_default"]
    if variant == "no_feature_masking" and cell.dataset in unmasked:
        variant = "base"
    return f"table_{cell.table}_ablation", cell.dataset, variant, metric


MODEL_CELLS = []
for cell in published_cells():
    is_residual_network = (cell.table, cell.dataset) == (2, "cifar10")  # in a test of its own
    is_of_five_folds = cell.folds  # 3.40, beside the 3.41 of one fold
    is_cost = not cell.kind and not cell.parts
    if not (is_cost or is_residual_network or is_of_five_folds or math.isnan(cell.value)):
        MODEL_CELLS.append(cell)


def test_every_published_number_finds_its_place() -> None:
    assert {cell.table for cell in MODEL_CELLS} == set(range(1, 14)) - {6, 7}
    for cell in MODEL_CELLS:
        expected = cell.scale * cell.value
        place_value = places().get(place(cell))
        if cell.table == 2 and place_value is not None:  # both signs occur in the table
            expected, place_value = abs(expected), abs(place_value)
        assert place_value == pytest.approx(expected), (cell.table, cell.row, cell.column)


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
    models = PLANNED[title]
    study = made_up(models)
    tidy = kinds()[models[0].study.kind].view.table(table, study, SCORING).tidy
    shown = tidy[tidy["published"].notna()]
    assert list(shown["variant"]) == ["resnet18"]
    assert list(shown["published"]) == pytest.approx([expected])


def test_no_number_stands_beside_another_model() -> None:
    """The small tables of Table 2 belong to the variants that mask targets."""
    small = {"breast_cancer", "yacht", "boston_housing", "concrete"}
    study = made_up(PLANNED["paper.yaml: corruption_small"]).assign(variant="base")
    tidy = kinds()["corruption"].view.table("corruption", study, SCORING).tidy
    assert set(tidy["dataset"]) <= small
    assert tidy["published"].isna().all()
