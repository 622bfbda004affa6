"""Tables of a study: a tidy frame in full precision, and sections as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from npt.datasets import datasets
from npt.interface import TASKS, Task
from npt.metrics import METRICS
from workflow.report.published import published_result
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.summary import (
    SUMMARY_COLUMNS,
    dataset_title,
    method_title,
    method_titles,
    metrics_of,
    standard_error,
    summarise,
)

Primary = Mapping[Task, str]
DASH = "–"
FAR = 2.0  # standard errors beyond which a difference is marked
COST_COLUMNS = [
    "dataset", "method", "variant", "folds", "grid", "configurations", "failed_configurations", "fits", "search_seconds",
    "refit_seconds", "predict_seconds", "peak_memory_mb", "peak_gpu_memory_mb", "threads", "device",
]  # fmt: skip
COST_NOTE = (
    "Means over folds; memory is the largest peak of the whole process. Configurations that one model serves share its fit, "
    "and the winner keeps the model that was scored, so that no refit is needed."
)
TASK_TITLES: dict[Task, str] = {
    "binary": "Binary classification",
    "multiclass": "Multi-class classification",
    "regression": "Regression",
}


@dataclass(frozen=True)
class Section:
    """One printed table: title, cells as text, and notes under it."""

    title: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """The cells as a Markdown table."""
        return self.cells.to_markdown(index=False, disable_numparse=True)


@dataclass(frozen=True)
class Tabulated:
    """A table for machines and for readers."""

    tidy: pd.DataFrame
    sections: tuple[Section, ...]

    def markdown(self, preset: str) -> str:
        """All sections as Markdown."""
        parts = [f"Configuration: {preset}\n"]
        for section in self.sections:
            parts.append(f"### {section.title}\n\n{section.markdown()}\n")
            parts += [f"{note}\n" for note in section.notes]
        return "\n".join(parts)


def ranks(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """Rank-order tables, one for each task that occurs."""
    frames, sections = [], []
    for task in tasks_of(study):
        metric = METRICS[primary[task]]
        means = mean_ranks(rank_methods(summarise(study, task, metric.name), higher_is_better=metric.higher_is_better))
        frames.append(means.assign(task=task, metric=metric.name)[["task", "metric", *means.columns]])
        names = method_titles(means)
        shown = [_plus_minus(m, e, 2) for m, e in zip(means["mean_rank"], means["standard_error"], strict=True)]
        count = int(means["datasets"].max())
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {_counted(count, 'dataset')}"
        notes = ("One dataset: a rank, with no standard error.",) if count == 1 else ()
        sections.append(Section(title, pd.DataFrame({"Method": names, "Mean rank": shown}), notes))
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
            sections.append(Section(title, _by_dataset(summary), _notes(summary)))
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
        Section(title, _corruption_cells(part, quantity, digits), _notes(part))
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


def cost(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """What every method took on every dataset (paper Tables 6 and 7): means over folds, and the largest peak of memory.

    The search of a baseline is over its whole grid, that of a tuned NPT over all its configurations.
    """
    rows = []
    for (dataset, method, variant), group in study[study["status"] == "ok"].groupby(
        ["dataset", "method", "variant"], sort=False
    ):
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "variant": variant,
                "folds": len(group),
                "grid": group["grid"].mean(),
                "configurations": group["configurations"].mean(),
                "failed_configurations": group["failed_configurations"].sum(),
                "fits": group["fits"].mean(),
                "search_seconds": (group["fit_seconds"] - group["refit_seconds"]).mean(),
                "refit_seconds": group["refit_seconds"].mean(),
                "predict_seconds": group["predict_seconds"].mean(),
                "peak_memory_mb": group["peak_memory_mb"].max(),
                "peak_gpu_memory_mb": group["peak_gpu_memory_mb"].max(),
                "threads": group["threads"].max(),
                "device": ", ".join(sorted(set(group["device"]))),
            }
        )
    tidy = pd.DataFrame(rows, columns=COST_COLUMNS)
    names = list(dict.fromkeys(tidy["dataset"]))
    sections = [
        Section(
            f"Cost on {dataset_title(name)} ({datasets()[name].rows:,} rows), a fold",
            _cost_cells(tidy[tidy["dataset"] == name]),
        )
        for name in names
    ]
    if sections:
        sections[-1] = replace(sections[-1], notes=(COST_NOTE,))
    return Tabulated(tidy, tuple(sections))


def published(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """A study's results beside the paper's (Tables 8 to 11), with the difference in standard errors of the difference."""
    rows = []
    for task in tasks_of(study):
        for metric in metrics_of(task, primary):
            for row in summarise(study, task, metric).to_dict("records"):
                theirs = published_result(row["dataset"], row["method"], metric)
                if theirs and row["variant"] in ("base", "tuned"):
                    mean, error = theirs
                    spread = float(np.hypot(row["standard_error"], error))
                    more = {"published": mean, "published_error": error, "difference": row["mean"] - mean}
                    rows.append({**row, **more, "standard_errors": more["difference"] / spread if spread else np.nan})
    columns = [*SUMMARY_COLUMNS, "published", "published_error", "difference", "standard_errors"]
    tidy = pd.DataFrame(rows, columns=columns)
    sections = [
        Section(
            f"{dataset_title(str(dataset))}: test {METRICS[str(metric)].title}, beside the paper",
            _published_cells(part),
            _notes(part),
        )
        for (dataset, metric), part in tidy.groupby(["dataset", "metric"], sort=False)
    ]
    return Tabulated(tidy, tuple(sections))


TABLES: dict[str, Callable[[pd.DataFrame, Primary], Tabulated]] = {
    "ranks": ranks,
    "metrics": metrics,
    "cost": cost,
    "published": published,
    "corruption": corruption,
}


def tasks_of(study: pd.DataFrame) -> list[Task]:
    """Tasks that occur in a study."""
    present = set(study["task"])
    return [task for task in TASKS if task in present]


def _column(study: pd.DataFrame, name: str) -> pd.Series:
    return study[name] if name in study else pd.Series(np.nan, index=study.index)


def _by_dataset(summary: pd.DataFrame) -> pd.DataFrame:
    cells = [_plus_minus(m, e, _digits(m)) for m, e in zip(summary["mean"], summary["standard_error"], strict=True)]
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
            f"Clean {quantity}": [_number(x, digits) for x in part["clean"]],
            f"Corrupted {quantity}": [_number(x, digits) for x in part["corrupted"]],
            "Change": [_plus_minus(m, e, 1, sign=True) for m, e in zip(part["change"], part["standard_error"], strict=True)],
        }
    )


def _published_cells(part: pd.DataFrame) -> pd.DataFrame:
    far = part["standard_errors"].abs() > FAR
    differences = [DASH if np.isnan(z) else _number(z, 1, sign=True) for z in part["standard_errors"]]
    return pd.DataFrame(
        {
            "Method": method_titles(part),
            "Here": [_plus_minus(m, e, _digits(m)) for m, e in zip(part["mean"], part["standard_error"], strict=True)],
            "Paper": [_plus_minus(m, e, _digits(m)) for m, e in zip(part["published"], part["published_error"], strict=True)],
            "Difference, standard errors": [f"**{z}**" if bold else z for z, bold in zip(differences, far, strict=True)],
        }
    )


def _cost_cells(part: pd.DataFrame) -> pd.DataFrame:
    cells = pd.DataFrame(
        {
            "Method": method_titles(part),
            "Configurations": [_tried(row) for row in part.to_dict("records")],
            "Models fitted": [f"{fits:,.0f}" for fits in part["fits"]],
            "Search": [_duration(seconds) for seconds in part["search_seconds"]],
            "Refit": [_duration(seconds) for seconds in part["refit_seconds"]],
            "Prediction": [_duration(seconds) for seconds in part["predict_seconds"]],
            "Peak memory, MB": [f"{peak:,.0f}" for peak in part["peak_memory_mb"]],
            "GPU memory, MB": [DASH if np.isnan(peak) else f"{peak:,.0f}" for peak in part["peak_gpu_memory_mb"].astype(float)],
            "On": [
                f"{device}, {threads:.0f} thread{'s' * (threads > 1)}"
                for device, threads in zip(part["device"], part["threads"], strict=True)
            ],
        }
    )
    return cells if (cells["GPU memory, MB"] != DASH).any() else cells.drop(columns="GPU memory, MB")


def _tried(row: Mapping[Any, Any]) -> str:
    """How many configurations a search scored, of how many, and how many of them failed."""
    if pd.isna(row["configurations"]):
        return "1"
    of = "" if pd.isna(row["grid"]) else f" of {row['grid']:,.0f}"
    failed = f" ({row['failed_configurations']:.0f} failed over all folds)" if row["failed_configurations"] > 0 else ""
    return f"{row['configurations']:,.0f}{of}{failed}"


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds, as far as they are needed."""
    if seconds == 0:
        return "none"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.05 else f"{1000 * seconds:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _notes(frame: pd.DataFrame) -> tuple[str, ...]:
    notes = [
        f"{DASH} {method_title(row.method, row.variant)} on {dataset_title(row.dataset)}: {row.reason}"  # type: ignore[arg-type]
        for row in frame.itertuples()
        if row.reason
    ]
    if any(dataset_title(name).endswith("*") for name in frame["dataset"]):
        notes.append("\\* not one of the paper's ten tables")
    return tuple(notes)


def _plus_minus(mean: float, error: float, digits: int, *, sign: bool = False) -> str:
    if np.isnan(mean):
        return DASH
    shown = _number(mean, digits, sign=sign)
    return shown if np.isnan(error) else f"{shown} ± {error:.{digits}f}"


def _number(value: float, digits: int, *, sign: bool = False) -> str:
    if np.isnan(value):
        return DASH
    value = round(value, digits) + 0.0
    return f"{value:{'+' if sign and value else ''}.{digits}f}".replace("-", "−")


def _digits(value: float) -> int:
    return 3 if np.isnan(value) or abs(value) < 10 else 2


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
