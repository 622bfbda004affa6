"""A cell's quantity: the studies that plan it, and its value in their rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from npt.data.datasets import datasets
from workflow.config.fields import TUNED
from workflow.planning.paths import run_key
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.report.published import is_part_of
from workflow.report.statistics import summarise

BASE = "base"
NPT = "npt"


@dataclass(frozen=True)
class Measured:
    """A value from committed rows, in the units of `npt.metrics`.

    Attributes:
        error: Standard error over the folds; NaN for one fold.
        searched: Configurations that were tried and those of the grid, if there is one.
    """

    dataset: str
    method: str
    variant: str
    value: float
    error: float
    folds: int
    searched: tuple[int, int] | None = None

    @property
    def key(self) -> str:
        """Key of its run."""
        return run_key(self.dataset, self.method, self.variant)


class Quantity:
    """What a cell measures."""

    metric = ""
    free_settings: frozenset[str] = frozenset()
    """Settings that the paper does not print for this cell."""

    @property
    def irrelevant_settings(self) -> frozenset[str]:
        """Settings on which the value does not depend."""
        return frozenset()

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """Key of the run whose value a planned study gives for the cell; None if it gives none."""
        raise NotImplementedError

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """Values of the cell in the rows of a study."""
        return []


def is_same_table(dataset: str, paper_dataset: str) -> bool:
    """Whether a dataset has all rows of one of the paper's; its folds may differ."""
    if not is_part_of(dataset, paper_dataset.partition("_")[0]):
        return False
    declared = datasets()
    return declared[dataset].rows == declared[paper_dataset].rows


def whole_variant(method: str) -> str:
    """The variant that is the method as the paper has it."""
    return TUNED if method == NPT else BASE


def folds_by_key(study: PlannedStudy) -> Mapping[str, set[int]]:
    """Folds of the rows that a study needs, by run key."""
    folds: dict[str, set[int]] = defaultdict(set)
    for row in study.expected:
        folds[row.key].add(row.fold)
    return folds


def rows_of(study: pd.DataFrame, paper_dataset: str, method: str) -> pd.DataFrame:
    """Rows of a method on one of the paper's datasets."""
    rows = study[study["method"] == method]
    if rows.empty:
        return rows
    names = [name for name in rows["dataset"].unique() if is_same_table(name, paper_dataset)]
    return rows[rows["dataset"].isin(names)]


def scores(rows: pd.DataFrame, metric: str) -> list[Measured]:
    """Means of a test metric on every dataset of which no fold failed."""
    means = []
    for task in rows["task"].unique():
        for summary in summarise(rows, task, metric).to_dict("records"):
            if summary["reason"]:
                continue
            part = rows[rows["dataset"] == summary["dataset"]]
            mean = Measured(
                dataset=summary["dataset"],
                method=summary["method"],
                variant=summary["variant"],
                value=summary["mean"],
                error=summary["standard_error"],
                folds=summary["folds"],
                searched=_searched(part),
            )
            means.append(mean)
    return means


def _searched(rows: pd.DataFrame) -> tuple[int, int] | None:
    """Fewest configurations that a fold tried, and the size of the grid."""
    if "grid" not in rows or rows["grid"].isna().any():
        return None
    return int(rows["configurations"].min()), int(rows["grid"].max())
