"""The cells of the paper's Tables 1 to 13, each with the model and the column of rows it is of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import nan, sqrt
from typing import Any

from npt.data.datasets import datasets
from npt.metrics import METRICS
from workflow.config.fields import BASE, TUNED
from workflow.presentation.cells import formatted
from workflow.presentation.published import SCALES, TABLES, published
from workflow.presentation.titles import dataset_title, method_title

NPT = "npt"
COLUMNS_3 = {
    "original": "Original",
    "random_features": "Random features",
    "add_one": "Add one",
    "random_features_add_one": "Random features, add one",
}
METHODS_3 = {
    "npt": ("NPT", "rmse"),
    "one_nn": ("1-NN", "nearest_rmse"),
    "knn": ("k-NN", "neighbours_rmse"),
    "dkl": ("DKL", "deep_kernel_learning_rmse"),
}
COLUMNS_5 = {
    "without_attributes": "Without ABA",
    "no_feature_masking": "Without feature masking",
    "base": "Default",
}
COSTS = {
    "cpus": "CPUs",
    "printed": "Time",
    "memory_gb": "Peak memory, GB",
    "gpu_memory_gb": "Peak GPU memory, GB",
}


@dataclass(frozen=True)
class Cell:
    """A cell that the paper prints.

    Attributes:
        row: Title of its row.
        column: Title of its column.
        content: The cell in `published.json`.
        kind: Kind of the studies that plan it; empty for the authors' costs.
        variant: Of the method; in Table 3 the lookup task.
        measure: Column of the rows of which the value is the mean.
        folds: Folds that it takes, of which a printed deviation is.
        parts: Cells of other tables of which it consists.
    """

    table: int
    row: str
    column: str
    content: Mapping[str, Any]
    kind: str = ""
    dataset: str = ""
    variant: str = ""
    measure: str = ""
    method: str = NPT
    folds: int = 0
    parts: tuple[Cell, ...] = ()

    @property
    def printed(self) -> str:
        """The cell as printed, but with a standard error where a deviation is."""
        text = self.content["printed"]
        if "standard_deviation" not in self.content:
            return text
        return f"{text.partition('±')[0]}±{self.error:.{self.digits}f}"

    @property
    def digits(self) -> int:
        """Number of decimals that are printed."""
        decimals = re.findall(r"\.(\d+)", self.content["printed"])
        return max(map(len, decimals), default=0)

    @property
    def value(self) -> float:
        """As a number, in the units of the paper; NaN if there is none."""
        value = self.content["value"]
        return nan if value is None else value

    @property
    def error(self) -> float:
        """Its standard error; NaN if none is printed."""
        return self.content.get("standard_error", nan)

    @property
    def scale(self) -> float:
        """Size of the unit that the paper prints."""
        return SCALES.get(self.measure.removeprefix("test_"), 1.0)


@cache
def published_cells() -> tuple[Cell, ...]:
    """All cells by table, in the order of the page."""
    scores = tuple(score_tables())
    content = published()["table_4_ablation"]["protein_base_five_fold"]
    model = ("benchmark", "protein", BASE, "test_rmse")
    title = dataset_title("protein")
    content = {**content, "standard_error": content["standard_deviation"] / sqrt(5)}
    five_folds = Cell(4, "base, five folds", title, content, *model, folds=5)
    return (
        *table_1(scores),
        *table_2(),
        *table_3(),
        *variant_table(4, "table_4_ablation", "test_rmse"),
        five_folds,
        *table_5(),
        *cost_table(6, "protein"),
        *cost_table(7, "higgs"),
        *scores,
        *variant_table(13, "table_13_configuration_rank", "validation_rank"),
    )


def table_1(scores: tuple[Cell, ...]) -> Iterator[Cell]:
    """Mean ranks, which take the scores of all methods on all datasets of a group."""
    for metric in ("auroc", "accuracy", "rmse"):
        group = published()["table_1_average_rank"][metric]
        parts = [cell for cell in scores if cell.measure == f"test_{metric}"]
        parts = [cell for cell in parts if cell.dataset in group["datasets"]]
        for method, cell in group["rank"].items():
            title = method_title(method, BASE)
            yield Cell(1, title, METRICS[metric].title, cell, parts=tuple(parts))


def table_2() -> Iterator[Cell]:
    """Changes of NPT's test performance when all other rows are corrupted."""
    table = published()["table_2_corruption"]
    for part, decimals, unit in (
        ("change_in_accuracy_points", 1, ""),
        ("change_in_rmse_percent_of_rmse", 0, " %"),
    ):
        for dataset, value in table[part].items():
            cell = {"printed": formatted(value, decimals) + unit, "value": value}
            title = datasets()[dataset].title
            yield Cell(2, title, "Change", cell, "corruption", dataset, measure="change")


def table_3() -> Iterator[Cell]:
    """Test RMSE on the lookup tasks of Protein."""
    cells = published()["table_3_semisynthetic_rmse"]["cells"]
    for method, (row, measure) in METHODS_3.items():
        for task, column in COLUMNS_3.items():
            yield Cell(3, row, column, cells[task][method], "lookup", "protein", task, measure)


def table_5() -> Iterator[Cell]:
    """Ablation of attention between attributes and of feature masking, beside the main result."""
    for dataset, cells in published()["table_5_ablation"]["cells"].items():
        metric = cells["metric"]
        row = f"{dataset_title(dataset)}, {METRICS[metric].title}"
        for variant, column in COLUMNS_5.items():
            model = ("ablation", dataset, variant, f"test_{metric}")
            if variant == BASE:
                model = ("benchmark", dataset, TUNED, f"test_{metric}")
            yield Cell(5, row, column, cells[variant], *model)


def cost_table(table: int, dataset: str) -> Iterator[Cell]:
    """Time and memory on the authors' machines (Tables 6 and 7)."""
    for method, costs in published()["tables_6_and_7_cost"]["cells"][dataset].items():
        for name, column in COSTS.items():
            cost = costs[name]
            if cost is not None:
                text = f"{cost:.2f}" if isinstance(cost, float) else str(cost)
                yield Cell(table, method_title(method, BASE), column, {"printed": text})


def score_tables() -> Iterator[Cell]:
    """Test metrics (Tables 8 to 12); NPT's are those of its best configuration."""
    for metric, (name, *_) in TABLES.items():
        table = int(name.split("_")[1])
        for dataset, cells in published()[name]["cells"].items():
            title = dataset_title(dataset)
            for method, cell in cells.items():
                variant = TUNED if method == NPT else BASE
                model = ("benchmark", dataset, variant, f"test_{metric}", method)
                yield Cell(table, method_title(method, BASE), title, cell, *model)


def variant_table(table: int, name: str, measure: str) -> Iterator[Cell]:
    """A measure of the variants of an ablation (Tables 4 and 13)."""
    for dataset, cells in published()[name]["cells"].items():
        title = dataset_title(dataset)
        for variant, cell in cells.items():
            yield Cell(table, variant, title, cell, "ablation", dataset, variant, measure)
