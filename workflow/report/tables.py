"""Tables of a study: a tidy frame in full precision, and sections as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.report.cost import cost
from workflow.report.lookup import lookup
from workflow.report.published import beside_published
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.section import (
    DASH,
    TASK_TITLES,
    Primary,
    Section,
    Tabulated,
    counted,
    decimals,
    notes,
    number,
    plus_minus,
    tasks_of,
)
from workflow.report.summary import dataset_title, method_titles, metrics_of, standard_error, summarise


def ranks(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Rank-order tables, one for each task that occurs."""
    frames, sections = [], []
    for task in tasks_of(study):
        metric = METRICS[primary[task]]
        means = mean_ranks(rank_methods(summarise(study, task, metric.name), higher_is_better=metric.higher_is_better))
        frames.append(means.assign(task=task, metric=metric.name)[["task", "metric", *means.columns]])
        names = method_titles(means)
        shown = [plus_minus(m, e, 2) for m, e in zip(means["mean_rank"], means["standard_error"], strict=True)]
        count = int(means["datasets"].max())
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {counted(count, 'dataset')}"
        remarks = ("One dataset: a rank, with no standard error.",) if count == 1 else ()
        sections.append(Section(title, pd.DataFrame({"Method": names, "Mean rank": shown}), remarks))
    return Tabulated(pd.concat(frames, ignore_index=True), tuple(sections))


def metrics(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Per-dataset tables, one for each task and metric: mean ± standard error over folds."""
    frames, sections = [], []
    for task in tasks_of(study):
        for name in metrics_of(task, primary):
            metric = METRICS[name]
            summary = rank_methods(summarise(study, task, name), higher_is_better=metric.higher_is_better)
            frames.append(summary)
            arrow = "higher" if metric.higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {metric.title} ({arrow} is better)"
            sections.append(Section(title, _by_dataset(summary), notes(summary)))
    return Tabulated(pd.concat(frames, ignore_index=True), tuple(sections))


def corruption(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Change of test performance when all other rows are corrupted (paper Table 2): points of accuracy, percent of RMSE."""
    study = study.assign(**corruption_changes(study))
    rows = []
    for (dataset, method, variant), group in study.groupby(["dataset", "method", "variant"], sort=False):
        failed, regression = group[group["status"] != "ok"], group["task"].iloc[0] == "regression"
        rows.append(
            {
                "dataset": dataset,
                "task": group["task"].iloc[0],
                "method": method,
                "variant": variant,
                "measure": "relative RMSE, percent" if regression else "accuracy, points",
                "clean": group["clean"].mean(),
                "corrupted": group["corrupted"].mean(),
                "change": group["change"].mean() if failed.empty else np.nan,
                "standard_error": standard_error(group["change"]) if failed.empty else np.nan,
                "folds": len(group),
                "reason": "" if failed.empty else failed["reason"].iloc[0],
            }
        )
    tidy = pd.DataFrame(rows)
    sections = [
        Section(title, _corruption_cells(part, quantity, digits), notes(part))
        for regression, title, quantity, digits in (
            (False, "Change of accuracy when all other rows are corrupted, in points", "accuracy, %", 1),
            (True, "Relative change of RMSE when all other rows are corrupted, in percent", "RMSE", 2),
        )
        if len(part := tidy[(tidy["task"] == "regression") == regression])
    ]
    return Tabulated(tidy, tuple(sections))


def corruption_changes(study: pd.DataFrame) -> dict[str, pd.Series]:
    """Clean and corrupted accuracy (percent) or RMSE of every fold, and the change; negative is worse in both."""
    regression = study["task"] == "regression"
    clean, corrupted = (
        _column(study, f"{state}_rmse").where(regression, 100 * _column(study, f"{state}_accuracy"))
        for state in ("clean", "corrupted")
    )
    change = (-100 * (corrupted - clean) / clean).where(regression, corrupted - clean)
    return {"clean": clean, "corrupted": corrupted, "change": change}


TABLES: dict[str, Callable[[pd.DataFrame, Primary], Tabulated]] = {
    "ranks": ranks,
    "metrics": metrics,
    "cost": cost,
    "published": beside_published,
    "corruption": corruption,
    "lookup": lookup,
}


def _column(study: pd.DataFrame, name: str) -> pd.Series:
    return study[name] if name in study else pd.Series(np.nan, index=study.index)


def _by_dataset(summary: pd.DataFrame) -> pd.DataFrame:
    cells = [plus_minus(m, e, decimals(m)) for m, e in zip(summary["mean"], summary["standard_error"], strict=True)]
    cells = [
        f"**{cell}**" if rank == summary.loc[summary["dataset"] == d, "rank"].min() and cell != DASH else cell
        for cell, rank, d in zip(cells, summary["rank"], summary["dataset"], strict=True)
    ]
    names = method_titles(summary)
    long = pd.DataFrame({"Method": names, "dataset": summary["dataset"].map(dataset_title), "cell": cells})
    wide = long.pivot(index="Method", columns="dataset", values="cell").reindex(list(dict.fromkeys(names)))
    return wide[list(dict.fromkeys(long["dataset"]))].rename_axis(columns=None).reset_index()


def _corruption_cells(part: pd.DataFrame, quantity: str, digits: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Dataset": part["dataset"].map(dataset_title),
            "Method": method_titles(part),
            f"Clean {quantity}": [number(x, digits) for x in part["clean"]],
            f"Corrupted {quantity}": [number(x, digits) for x in part["corrupted"]],
            "Change": [plus_minus(m, e, 1, sign=True) for m, e in zip(part["change"], part["standard_error"], strict=True)],
        }
    )
