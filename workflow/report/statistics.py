"""Statistics of a study: means over seeds come first, then means and standard errors over folds.

Standard errors are sample standard deviations (ddof 1) over the square root of the count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from npt.table import TASKS, Task
from workflow.results.row import LINEAR

LEVEL = 0.05  # significance level of all tests
INTERVAL = f"{100 * (1 - LEVEL):.0f} % interval"
ROUNDING = 1e-9  # relative difference of numbers in double precision that rounding may cause
MODEL = ["dataset", "method", "variant"]
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


@dataclass(frozen=True)
class ModelRows:
    """A method's variant on a dataset.

    Attributes:
        folds: Number of folds.
        encoder: That of NPT, of images.
        reason: Reason of the first fold that failed; empty if none did.
        rows: A row per fold, averaged over seeds. Empty if a fold failed, since a mean over the
            other folds would be another quantity.
    """

    dataset: str
    method: str
    variant: str
    task: Task
    folds: int
    encoder: str
    reason: str
    rows: pd.DataFrame

    def facts(self) -> dict[str, Any]:
        """First columns of the model's row in a tidy table."""
        return {
            "dataset": self.dataset,
            "method": self.method,
            "variant": self.variant,
            "task": self.task,
            "folds": self.folds,
            "reason": self.reason,
        }


def tasks_of(study: pd.DataFrame) -> list[Task]:
    """Tasks that occur in a study."""
    present = set(study["task"].unique())
    return [task for task in TASKS if task in present]


def has_seeds(study: pd.DataFrame) -> bool:
    """Whether models were trained with more than one random seed."""
    return "seed" in study and study["seed"].nunique() > 1


def fold_means(study: pd.DataFrame) -> pd.DataFrame:
    """One row per model and fold: numbers averaged over seeds, the rest from the first seed.

    A fold of which a seed failed has the status and the reason of that seed.
    """
    keys = [*MODEL, "fold"]
    if not study.duplicated(keys).any():
        return study
    numbers = study.select_dtypes("number").columns.drop(["fold", "seed"])
    means = study.groupby(keys, sort=False)[list(numbers)].mean(skipna=False)
    rows = study.drop_duplicates(keys).set_index(keys)
    for name in numbers:
        rows[name] = means[name]
    failed = _first_failures(study, keys)
    others = rows.drop(failed.index)
    joined = pd.concat([others, failed]).reindex(rows.index)
    return joined.reset_index()[list(study.columns)]


def _first_failures(study: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The first failed row of every model and fold, whose reason names the seed."""
    failed = study[study["status"] != "ok"].drop_duplicates(keys)
    reasons: list[str] = []
    for seed, reason in zip(failed["seed"], failed["reason"], strict=True):
        reasons.append(f"seed {seed}: {reason}")
    return failed.assign(reason=reasons).set_index(keys)


def nearly_equal(values: pd.Series | np.ndarray) -> bool:
    """Whether values differ by rounding alone."""
    largest = np.abs(values).max()
    return bool(np.ptp(values) <= ROUNDING * largest)


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean; NaN for fewer than two values, 0 for nearly equal ones."""
    if len(values) < 2:
        return float("nan")
    if values.notna().all() and nearly_equal(values):
        return 0.0
    deviation = values.std(ddof=1)
    return float(deviation / np.sqrt(len(values)))


def t_quantile(folds: pd.Series) -> np.ndarray:
    """Standard errors (n,) beyond which a mean over folds differs from 0 at the 5 % level.

    Of Student's t, two-sided; 4.3 for three folds. NaN for a single fold.
    """
    from scipy.stats import t

    degrees = folds.to_numpy(dtype=float) - 1
    return t.ppf(1 - LEVEL / 2, np.where(degrees > 0, degrees, np.nan))


def by_model(study: pd.DataFrame) -> list[ModelRows]:
    """Models of a study, in the order in which their datasets first occur."""
    groups = fold_means(study).groupby(MODEL, sort=False)
    models = [_model_rows(rows) for _, rows in groups]
    order = list(study["dataset"].unique())
    return sorted(models, key=lambda model: order.index(model.dataset))


def _model_rows(rows: pd.DataFrame) -> ModelRows:
    first = rows.iloc[0]
    failed = rows[rows["status"] != "ok"]
    reason = ""
    complete = rows
    if len(failed):
        failure = failed.iloc[0]
        reason = f"fold {failure['fold']}: {failure['reason']}"
        complete = rows.iloc[:0]
    return ModelRows(
        dataset=first["dataset"],
        method=first["method"],
        variant=first["variant"],
        task=first["task"],
        folds=len(rows),
        encoder=_encoder(first),
        reason=reason,
        rows=complete,
    )


def _encoder(row: pd.Series) -> str:
    found = row.get("encoder")
    return LINEAR if pd.isna(found) else str(found)


def summarise(study: pd.DataFrame, task: Task, metric: str) -> pd.DataFrame:
    """Mean and standard error over folds of a test metric, for every model of a task.

    A model of which a fold failed, or has no value of the metric, has a reason instead of a mean.
    Where a study has more than one seed, `seed_deviation` is the standard deviation over them,
    pooled over folds.
    """
    column = f"test_{metric}"
    study = with_columns(study[study["task"] == task], [column])
    folds = fold_means(study)
    failed = folds["status"] != "ok"
    undefined = f"{METRICS[metric].title} is undefined on its test rows"
    reasons = folds["reason"].where(failed, np.where(folds[column].isna(), undefined, ""))
    numbered = "fold " + folds["fold"].astype(str) + ": " + reasons.astype(str)
    folds = folds.assign(
        reason=numbered.where(reasons != "", ""), value=folds[column].astype(float)
    )
    groups = folds.groupby(MODEL, sort=False)
    summary = groups.agg(
        task=("task", "first"),
        mean=("value", "mean"),
        standard_error=("value", standard_error),
        folds=("value", "count"),
        reason=("reason", _first),
    ).reset_index()
    missing = summary["reason"] != ""
    summary.loc[missing, ["mean", "standard_error"]] = np.nan
    summary.loc[missing, "folds"] = 0
    order = {dataset: place for place, dataset in enumerate(study["dataset"].unique())}
    summary = summary.sort_values("dataset", key=lambda names: names.map(order), kind="stable")
    summary = summary.assign(metric=metric)[SUMMARY_COLUMNS].reset_index(drop=True)
    if not has_seeds(study):
        return summary
    variances = study.groupby([*MODEL, "fold"])[column].var(ddof=1)
    deviations = (variances.groupby(MODEL).mean() ** 0.5).rename("seed_deviation")
    summary = summary.join(deviations, on=MODEL)
    return summary.assign(seed_deviation=summary["seed_deviation"].where(summary["reason"] == ""))


def _first(reasons: pd.Series) -> str:
    """The first reason that is not empty."""
    return next(filter(None, reasons), "")


def metrics_of(task: Task, first: str) -> list[str]:
    """Metrics of a task, `first` before the others."""
    names = []
    for name, metric in METRICS.items():
        if task in metric.tasks:
            names.append(name)
    return sorted(names, key=lambda name: name != first)


def without_failures(study: pd.DataFrame) -> pd.DataFrame:
    """Rows, of all seeds, of the models of which no fold failed."""
    order = list(study["dataset"].unique())
    complete = []
    for _, rows in study.groupby(MODEL, sort=False):
        if (rows["status"] == "ok").all():
            complete.append(rows)
    if not complete:
        return study.iloc[:0]
    complete.sort(key=lambda rows: order.index(rows["dataset"].iloc[0]))
    return pd.concat(complete)


def of_model(frame: pd.DataFrame, facts: Mapping[Any, Any]) -> pd.DataFrame:
    """Rows of the model that `facts` name."""
    is_model = pd.Series(True, frame.index)
    for column in MODEL:
        is_model &= frame[column] == facts[column]
    return frame[is_model]


def with_columns(study: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """A study with empty columns for those of the names that it lacks."""
    columns = dict.fromkeys([*study.columns, *names])
    return study.reindex(columns=list(columns))


def framed(rows: list[dict[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """A frame of rows that has all of the columns, even where no row has them."""
    return with_columns(pd.DataFrame(rows), columns)


def signed_rank_p(less: pd.Series, more: pd.Series, fewest: int = 5) -> float:
    """One-sided p-value of Wilcoxon's signed-rank test that `less` is smaller than `more`.

    NaN for fewer than `fewest` pairs that differ.
    """
    from scipy.stats import wilcoxon

    pairs = pd.DataFrame({"less": less, "more": more}, dtype=float).dropna()
    if (pairs["less"] != pairs["more"]).sum() < fewest:
        return float("nan")
    test: Any = wilcoxon(pairs["less"], pairs["more"], alternative="less")
    return float(test.pvalue)
