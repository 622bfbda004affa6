"""The paper's printed results (Tables 8 to 11) beside a study's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.report.section import DASH, Primary, Section, Tabulated, decimals, notes, number, plus_minus, tasks_of
from workflow.report.summary import SUMMARY_COLUMNS, dataset_title, method_titles, metrics_of, summarise

PATH = Path(__file__).with_name("published.json")
TABLES = {"accuracy": "table_8_accuracy", "nll": "table_9_nll", "auroc": "table_10_auroc", "rmse": "table_11_rmse"}
SCALES = {"accuracy": 0.01}  # the paper prints percent
FAR = 2.0  # standard errors beyond which a difference is marked


@cache
def published() -> Mapping[str, Any]:
    """The paper's Tables 1 and 8 to 11."""
    return json.loads(PATH.read_text())


def published_result(dataset: str, method: str, metric: str) -> tuple[float, float] | None:
    """Mean and standard error (NaN where none is printed) of a method's test metric, in this project's units.

    A dataset with the splits of the released code is the paper's dataset.
    """
    table = published().get(TABLES.get(metric, ""), {"cells": {}})
    cell = table["cells"].get(dataset.removesuffix("_legacy"), {}).get(method)
    if not cell or cell.get("value") is None:
        return None
    scale = SCALES.get(metric, 1.0)
    return scale * cell["value"], scale * cell.get("standard_error", float("nan"))


def beside_published(study: pd.DataFrame, primary: Primary) -> Tabulated:
    """A study's results beside the paper's (Tables 8 to 11), with the difference in standard errors of the difference."""
    rows = []
    for task in tasks_of(study):
        for metric in metrics_of(task, primary):
            for row in summarise(study, task, metric).to_dict("records"):
                theirs = published_result(row["dataset"], row["method"], metric)
                if theirs:
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
            notes(part),
        )
        for (dataset, metric), part in tidy.groupby(["dataset", "metric"], sort=False)
    ]
    return Tabulated(tidy, tuple(sections))


def _published_cells(part: pd.DataFrame) -> pd.DataFrame:
    far = part["standard_errors"].abs() > FAR
    differences = [DASH if np.isnan(z) else number(z, 1, sign=True) for z in part["standard_errors"]]
    return pd.DataFrame(
        {
            "Method": method_titles(part),
            "Here": [plus_minus(m, e, decimals(m)) for m, e in zip(part["mean"], part["standard_error"], strict=True)],
            "Paper": [plus_minus(m, e, decimals(m)) for m, e in zip(part["published"], part["published_error"], strict=True)],
            "Difference, standard errors": [f"**{z}**" if bold else z for z, bold in zip(differences, far, strict=True)],
        }
    )
