"""Means and standard errors over folds (ddof 1), with the names that a reader sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from npt.data.datasets import datasets
from npt.metrics import METRICS
from npt.table import Task
from workflow.results.row import UNFINISHED

SUMMARY_COLUMNS = [
    "task",
    "dataset",
    "method",
    "variant",
    "metric",
    "mean",
    "standard_error",
    "folds",
    "reason",
]


def alike(values: pd.Series | np.ndarray) -> bool:
    """Whether values differ by no more than rounding."""
    return bool(np.ptp(values) <= 1e-9 * np.abs(values).max())


def standard_error(values: pd.Series) -> float:
    """Sample standard deviation (ddof 1) over the square root of the count; NaN for fewer than two values.

    Values that differ by rounding alone have none, so that nothing is large beside it.
    """
    if len(values) < 2:
        return float("nan")
    return (
        0.0
        if values.notna().all() and alike(values)
        else float(values.std(ddof=1) / np.sqrt(len(values)))
    )


def with_columns(study: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """A study with columns that its rows may lack, since none of them has such a number."""
    return study.reindex(columns=list(dict.fromkeys([*study.columns, *names])))


def method_title(method: str, variant: str) -> str:
    """The method's name, with the variant unless it is the base; a method of others is called what they call it."""
    known = methods().get(method)
    return (known.title if known else method) + ("" if variant == "base" else f" ({variant})")


def method_titles(frame: pd.DataFrame) -> list[str]:
    """The title of every row's method and variant."""
    return [
        method_title(method, variant)
        for method, variant in zip(frame["method"], frame["variant"], strict=True)
    ]


def dataset_title(name: str) -> str:
    """The dataset's name, that of the configuration for a user's own; a star marks one that is not among the paper's ten."""
    declared = datasets().get(name)
    return f"{name}*" if declared is None else declared.title + ("" if declared.in_paper else "*")


LEVEL = 0.05  # of every test, where nothing else is said
MODEL = ["dataset", "method", "variant"]


def by_model(study: pd.DataFrame) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """For each dataset, and of it each method and variant, what its row of a table begins with, and its folds if none failed.

    The row has the `reason` of the first fold that did; a mean over the other folds would be another quantity.
    """
    found = []
    for names, group in study.groupby(MODEL, sort=False):
        failed = group[group["status"] != "ok"]
        reason = (
            "" if failed.empty else f"fold {failed['fold'].iloc[0]}: {failed['reason'].iloc[0]}"
        )
        row = {
            **dict(zip(MODEL, names, strict=True)),
            "task": group["task"].iloc[0],
            "folds": len(group),
            "reason": reason,
        }
        found.append((row, group if failed.empty else group.iloc[:0]))
    order = list(dict.fromkeys(study["dataset"]))
    return sorted(found, key=lambda one: order.index(one[0]["dataset"]))


def unfinished(study: pd.DataFrame) -> list[str]:
    """Datasets of which some result is still to come."""
    return list(study.loc[study["status"] == UNFINISHED, "dataset"].unique())


def waiting(later: Iterable[str]) -> list[str]:
    """A note on unfinished datasets, if there are any."""
    names = ", ".join(map(dataset_title, later))
    return [f"Not ranked yet, for want of results: {names}."] if names else []


def without_failures(study: pd.DataFrame) -> pd.DataFrame:
    """The folds of the models of which none failed."""
    kept = [group for _, group in by_model(study) if len(group)]
    return pd.concat(kept) if kept else study.iloc[:0]


def one_sided(less: pd.Series, more: pd.Series, fewest: int = 5) -> float:
    """P-value of Wilcoxon's signed-rank test that `less` is smaller; NaN for fewer than so many pairs that differ."""
    from scipy.stats import wilcoxon

    pairs = pd.DataFrame({"less": less, "more": more}, dtype=float).dropna()
    if (pairs["less"] != pairs["more"]).sum() < fewest:
        return float("nan")
    found: Any = wilcoxon(pairs["less"], pairs["more"], alternative="less")
    return float(found.pvalue)


def of_model(frame: pd.DataFrame, row: Mapping[Any, Any]) -> pd.DataFrame:
    """The rows of the method's variant on the dataset that `row` is of."""
    return frame[(frame[MODEL] == [row[name] for name in MODEL]).all(axis=1)]  # type: ignore[call-overload]


def tabulated(rows: list[dict[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """A frame of rows, with `columns` that it has even where no row does."""
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=list(dict.fromkeys([*frame.columns, *columns])))


def metrics_of(task: Task, first: str) -> list[str]:
    """Metrics of a task, `first` before the others."""
    names = [name for name, metric in METRICS.items() if task in metric.tasks]
    return sorted(names, key=lambda name: name != first)


def summarise(study: pd.DataFrame, task: Task, metric: str) -> pd.DataFrame:
    """One row for each dataset and method of a task: mean, error, folds and, if a fold has no result, the reason.

    A method with a failed fold has no mean, since a mean over the other folds would be another quantity.
    """
    rows = []
    frame = with_columns(study[study["task"] == task], [f"test_{metric}"])
    for (dataset, method, variant), group in frame.groupby(
        ["dataset", "method", "variant"], sort=False
    ):
        reason = _why_not(group, metric)
        values = pd.Series(dtype=float) if reason else group[f"test_{metric}"]
        rows.append(
            {
                "task": task,
                "dataset": dataset,
                "method": method,
                "variant": variant,
                "metric": metric,
                "mean": values.mean() if len(values) else np.nan,
                "standard_error": standard_error(values),
                "folds": len(values),
                "reason": reason,
            }
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def _why_not(group: pd.DataFrame, metric: str) -> str:
    """Why a group of folds has no mean: the first fold that failed, or whose metric is undefined; empty if it has one."""
    wrong = (group["status"] != "ok") | group[f"test_{metric}"].isna()
    if not wrong.any():
        return ""
    first = group[wrong].iloc[0].to_dict()
    return f"fold {first['fold']}: {why_no_result(first, metric)}"


def why_no_result(row: Mapping[Any, Any], metric: str) -> str:
    """Why a fold has no value of a metric: it failed, or the metric is undefined; empty if it has one or is not scored."""
    if row["status"] != "ok":
        return str(row["reason"])
    return (
        f"{METRICS[metric].title} is undefined on its test rows"
        if pd.isna(row.get(f"test_{metric}", 0.0))
        else ""
    )
