"""Sentence of an ablation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import formatted, metric_decimals
from workflow.report.titles import dataset_title
from workflow.studies.ablation.tables import changes


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Change of the test metric by every variant and its error, in percent of the base.

    Without a base, the metric itself.
    """
    variants = changes(study, scoring)
    compared = _clauses(variants.dropna(subset="change"), _change)
    if compared:
        return f"Change of the test metric when one part is altered: {compared}."
    means = _clauses(variants.dropna(subset="mean"), _mean)
    if means:
        return f"Test metric of each variant, without a base: {means}."
    return "No variant has a result."


def _clauses(
    variants: pd.DataFrame,
    shown: Callable[[Mapping[Any, Any]], str],
) -> str:
    """What is shown of every variant, by dataset."""
    clauses = []
    for dataset, part in variants.groupby("dataset", sort=False):
        metric = METRICS[part["metric"].iloc[0]].title
        values = []
        for row in part.to_dict("records"):
            values.append(f"{row['title']} {shown(row)}")
        clauses.append(f"{dataset_title(str(dataset))} ({metric}): {', '.join(values)}")
    return "; ".join(clauses)


def _change(row: Mapping[Any, Any]) -> str:
    return f"{_with_error(row['change'], row['error'])} %"


def _mean(row: Mapping[Any, Any]) -> str:
    mean = row["mean"]
    return formatted(mean, metric_decimals(mean))


def _with_error(change: float, error: float) -> str:
    shown = formatted(change, 0, sign=True)
    return shown if pd.isna(error) else f"{shown} ± {formatted(error, 0)}"
