"""The paper's printed results beside a study's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data.datasets import datasets
from npt.metrics import METRICS, PAPER_METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.section import (
    Section,
    Tabulated,
    bold,
    decimals,
    noted,
    notes,
    number,
    plus_minus,
    tasks_of,
)
from workflow.report.summary import (
    SUMMARY_COLUMNS,
    dataset_title,
    method_titles,
    metrics_of,
    summarise,
)

PATH = Path(__file__).with_name("published.json")
TABLES = {
    "accuracy": "table_8_accuracy",
    "nll": "table_9_nll",
    "auroc": "table_10_auroc",
    "rmse": "table_11_rmse",
}
SCALES = {"accuracy": 0.01}  # the paper prints percent
FAR = 2.0  # standard errors beyond which a difference is marked
WHOLE = ("base", "tuned")  # variants that are a method as the paper has it
DIFFERENCE = "Difference, standard errors"
DIFFERENCE_NOTE = (
    "The difference is in standard errors of the difference, the paper's and those here taken together (where the paper prints "
    "none, those here alone); bold beyond two."
)


@cache
def published() -> Mapping[str, Any]:
    """The paper's printed numbers."""
    return json.loads(PATH.read_text())


def paper_name(dataset: str) -> str:
    """The paper's name of a dataset, also of one with the splits of the released code; none of a table of the user's own."""
    return dataset.removesuffix("_legacy") if dataset in datasets() else ""


def part_of(dataset: str, whole: str) -> bool:
    """Whether a dataset is a published one, or a sample or other splits of it."""
    return dataset in datasets() and dataset.partition("_")[0] == whole


def published_result(dataset: str, method: str, metric: str) -> tuple[float, float] | None:
    """Mean and standard error (NaN where none is printed) of a method's test metric, in this project's units."""
    table = published().get(TABLES.get(metric, ""), {"cells": {}})
    cell = table["cells"].get(paper_name(dataset), {}).get(method)
    if not cell or cell.get("value") is None:
        return None
    scale = SCALES.get(metric, 1.0)
    return scale * cell["value"], scale * cell.get("standard_error", float("nan"))


def published_summary(
    metric: str, names: Iterable[str], methods: Iterable[str]
) -> pd.DataFrame | None:
    """The paper's means of methods on datasets, as `rank_methods` takes them.

    None if there are none, or if one is not printed and has no reason.
    """
    cells, wanted, rows = (
        published().get(TABLES.get(metric, ""), {"cells": {}})["cells"],
        list(methods),
        [],
    )
    for dataset in names:
        for method in wanted:
            cell = cells.get(paper_name(dataset), {}).get(method)
            if not cell or (cell.get("value") is None and not cell.get("reason")):
                return None
            found = {
                "mean": np.nan if cell["value"] is None else cell["value"],
                "reason": cell.get("reason", ""),
            }
            rows.append({"dataset": dataset, "method": method, "variant": "base", **found})
    return pd.DataFrame(rows) if rows else None


def published_ranks(
    metric: str, names: Iterable[str], methods: list[str], ranking: Ranking
) -> pd.DataFrame | None:
    """Mean ranks of the same methods on the same datasets, of the paper's printed values; None if it lacks one of them.

    Over the datasets and methods of its Table 1, and with its ranking, these are that table's.
    """
    if len(set(methods)) < len(methods):
        return None
    summary = published_summary(metric, names, methods)
    if summary is None:
        return None
    return mean_ranks(
        rank_methods(summary, higher_is_better=METRICS[metric].higher_is_better, ranking=ranking)
    )


def published_study() -> pd.DataFrame:
    """The results behind the paper's Table 1 as a study of one fold: its printed values on the datasets of that table."""
    frames = []
    for metric, facts in published()["table_1_average_rank"].items():
        if metric not in TABLES:
            continue
        summary = published_summary(metric, facts["datasets"], facts["rank"])
        assert summary is not None
        (task,) = (task for task, name in PAPER_METRICS.items() if name == metric)
        status = np.where(summary["mean"].isna(), "failed", "ok")
        frames.append(
            summary.assign(task=task, fold=0, status=status).rename(
                columns={"mean": f"test_{metric}"}
            )
        )
    return pd.concat(frames, ignore_index=True)


def standard_errors(mean: float, error: float, theirs: float, their_error: float) -> float:
    """A difference from the paper in standard errors of the difference; NaN without an error of the study's own.

    Where the paper prints no error, the study's own stands alone.
    """
    spread = float(np.hypot(error, 0.0 if np.isnan(their_error) else their_error))
    return (mean - theirs) / spread if spread > 0 else float("nan")


def marked(errors: float) -> str:
    """A difference in standard errors, bold where it is large."""
    return bold(number(errors, 1, sign=True), abs(errors) > FAR)


def beside_published(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """A study's results beside the paper's (Tables 8 to 11), with the difference in standard errors of the difference."""
    rows = []
    for task in tasks_of(study):
        for metric in metrics_of(task, scoring.metrics[task]):
            for row in summarise(study, task, metric).to_dict("records"):
                theirs = published_result(row["dataset"], row["method"], metric)
                if theirs and row["variant"] in WHOLE:
                    own = (row["mean"], row["standard_error"])
                    more = {
                        "published": theirs[0],
                        "published_error": theirs[1],
                        "difference": own[0] - theirs[0],
                    }
                    rows.append({**row, **more, "standard_errors": standard_errors(*own, *theirs)})
    columns = [*SUMMARY_COLUMNS, "published", "published_error", "difference", "standard_errors"]
    tidy = pd.DataFrame(rows, columns=columns)
    sections = [
        Section(
            f"{dataset_title(str(dataset))}: test {METRICS[str(metric)].title}, beside the paper",
            _published_cells(part),
            notes(part),
            fold="Metrics beside the paper's",
        )
        for (dataset, metric), part in tidy.groupby(["dataset", "metric"], sort=False)
    ]
    return Tabulated(tidy, noted(sections, DIFFERENCE_NOTE))


def _published_cells(part: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Method": method_titles(part),
            "Here": [
                plus_minus(m, e, decimals(m))
                for m, e in zip(part["mean"], part["standard_error"], strict=True)
            ],
            "Paper": [
                plus_minus(m, e, decimals(m))
                for m, e in zip(part["published"], part["published_error"], strict=True)
            ],
            DIFFERENCE: [marked(z) for z in part["standard_errors"]],
        }
    )
