"""All cells of the paper's Tables 1 to 13, with what each measures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from npt.data.datasets import datasets
from npt.metrics import METRICS
from performance.reproduction.quantities import (
    Ablated,
    Change,
    ConfigurationRank,
    LookedUp,
    MeanRank,
    Score,
)
from performance.reproduction.quantity import Quantity, whole_variant
from workflow.report.cells import formatted
from workflow.report.published import TABLES, published
from workflow.report.titles import method_title
from workflow.studies.ablation.paper import PRINTED_METRICS

TITLES = {
    1: "average rank ± standard error over datasets",
    2: "change after all other rows are corrupted (accuracy in points, RMSE in percent of itself)",
    3: "test RMSE on the lookup tasks of Protein",
    4: "ablation, test RMSE",
    5: "ablation of attention between attributes and of feature masking",
    6: "cost on Protein (baselines: whole search, NPT: one training)",
    7: "cost on Higgs (baselines: whole search, NPT: one training)",
    8: "test accuracy, percent",
    9: "test NLL, nats",
    10: "test AUROC",
    11: "test RMSE",
    12: "test MSE",
    13: "average rank, from 0, of NPT's eight configurations by validation loss",
}
COLUMNS_5 = {
    "without_attributes": "Without ABA",
    "no_feature_masking": "Without feature masking",
    "base": "Default",
}
COLUMNS_3 = {
    "original": "Original",
    "random_features": "Random features",
    "add_one": "Add one",
    "random_features_add_one": "Random features, add one",
}
METHODS_3 = {
    "npt": ("NPT", "rmse", ""),
    "one_nn": ("1-NN", "nearest_rmse", ""),
    "knn": ("k-NN", "neighbours_rmse", ""),
    "dkl": ("DKL", "deep_kernel_learning_rmse", "deep_kernel_learning"),
}
COSTS = {
    "cpus": "CPUs",
    "printed": "Time",
    "memory_gb": "Peak memory, GB",
    "gpu_memory_gb": "Peak GPU memory, GB",
}
FIVE_FOLDS = 5
TEN_FOLDS = 10


@dataclass(frozen=True)
class PublishedCell:
    """A cell that the paper prints.

    Attributes:
        table: Number of the table.
        row: Title of its row.
        column: Title of its column.
        printed: The cell as printed, but with a standard error where a deviation is.
        quantity: What it measures; None for the authors' costs.
        value: As a number, in the units of the paper; NaN if there is none.
        error: Its standard error; NaN if none is printed.
    """

    table: int
    row: str
    column: str
    printed: str
    quantity: Quantity | None = None
    value: float = float("nan")
    error: float = float("nan")

    @property
    def key(self) -> tuple[int, str, str]:
        """Table, row and column."""
        return self.table, self.row, self.column

    @property
    def digits(self) -> int:
        """Number of decimals that are printed."""
        return _digits(self.printed)


@cache
def published_cells() -> tuple[PublishedCell, ...]:
    """All cells by table, in the order of the page."""
    cells = [
        *_mean_ranks(),
        *_changes(),
        *_lookups(),
        *_table_4(),
        *_table_5(),
        *_costs(6, "protein"),
        *_costs(7, "higgs"),
        *_scores(),
        *_configuration_ranks(),
    ]
    return tuple(cells)


def _cell(
    table: int,
    row: str,
    column: str,
    printed: Mapping[str, Any],
    quantity: Quantity,
    folds: int = TEN_FOLDS,
) -> PublishedCell:
    """A cell of `published.json`."""
    text = printed["printed"]
    error = printed.get("standard_error", float("nan"))
    if "standard_deviation" in printed:
        error = printed["standard_deviation"] / folds**0.5
        text = f"{text.partition('±')[0]}±{error:.{_digits(text)}f}"
    value = printed["value"]
    return PublishedCell(
        table=table,
        row=row,
        column=column,
        printed=text,
        quantity=quantity,
        value=float("nan") if value is None else value,
        error=error,
    )


def _digits(printed: str) -> int:
    decimals = re.findall(r"\.(\d+)", printed)
    return max(map(len, decimals), default=0)


def _mean_ranks() -> Iterator[PublishedCell]:
    for metric, column in published()["table_1_average_rank"].items():
        if metric not in METRICS:
            continue
        for method, printed in column["rank"].items():
            quantity = MeanRank(tuple(column["datasets"]), method)
            title = METRICS[metric].title
            yield _cell(1, method_title(method, "base"), title, printed, quantity)


def _changes() -> Iterator[PublishedCell]:
    table = published()["table_2_corruption"]
    for name, unit in (
        ("change_in_accuracy_points", ""),
        ("change_in_rmse_percent_of_rmse", " %"),
    ):
        for dataset, value in table[name].items():
            decimals = 0 if unit else 1
            yield PublishedCell(
                table=2,
                row=_title(dataset),
                column="Change",
                printed=formatted(value, decimals) + unit,
                quantity=Change(dataset),
                value=float(value),
            )


def _lookups() -> Iterator[PublishedCell]:
    cells = published()["table_3_semisynthetic_rmse"]["cells"]
    for name, (row, column, compared) in METHODS_3.items():
        for task, title in COLUMNS_3.items():
            quantity = LookedUp("protein", task, column, compared)
            yield _cell(3, row, title, cells[task][name], quantity)


def _table_4() -> Iterator[PublishedCell]:
    table = published()["table_4_ablation"]
    for dataset, cells in table["cells"].items():
        for variant, printed in cells.items():
            quantity = Ablated("table_4_ablation", dataset, variant, "rmse")
            yield _cell(4, variant, _title(dataset), printed, quantity)
    printed = table["protein_base_five_fold"]
    quantity = Score("protein", "npt", "rmse", least_folds=FIVE_FOLDS)
    yield _cell(4, "base, five folds", _title("protein"), printed, quantity, FIVE_FOLDS)


def _table_5() -> Iterator[PublishedCell]:
    for dataset, cells in published()["table_5_ablation"]["cells"].items():
        printed: str = cells["metric"]
        metric = PRINTED_METRICS.get(printed, printed)
        row = f"{_title(dataset)}, {METRICS[metric].title}"
        for variant, column in COLUMNS_5.items():
            quantity: Quantity = Ablated("table_5_ablation", dataset, variant, metric)
            if variant == "base":
                quantity = Score(dataset, "npt", metric, whole_variant("npt"))
            yield _cell(5, row, column, cells[variant], quantity)


def _costs(table: int, dataset: str) -> Iterator[PublishedCell]:
    for method, printed in published()["tables_6_and_7_cost"]["cells"][dataset].items():
        row = method_title(method, "base")
        for name, column in COSTS.items():
            value = printed[name]
            if value is None:
                continue
            text = f"{value:.2f}" if isinstance(value, float) else str(value)
            yield PublishedCell(table, row, column, text)


def _scores() -> Iterator[PublishedCell]:
    for metric, (name, *_) in TABLES.items():
        table = int(name.split("_")[1])
        for dataset, cells in published()[name]["cells"].items():
            for method, printed in cells.items():
                quantity = Score(dataset, method, metric, whole_variant(method))
                yield _cell(table, method_title(method, "base"), _title(dataset), printed, quantity)


def _configuration_ranks() -> Iterator[PublishedCell]:
    for dataset, cells in published()["table_13_configuration_rank"]["cells"].items():
        for variant, printed in cells.items():
            quantity = ConfigurationRank(dataset, variant)
            yield _cell(13, variant, _title(dataset), printed, quantity)


def _title(dataset: str) -> str:
    return datasets()[dataset].title
