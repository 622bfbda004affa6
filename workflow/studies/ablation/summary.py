"""Sentence of an ablation."""

from __future__ import annotations

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import formatted, metric_decimals
from workflow.report.titles import dataset_title
from workflow.studies.ablation.tables import changes


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Change of the test metric by every variant and its error, in percent of the base."""
    variants = changes(study, scoring).dropna(subset="change")
    clauses = []
    for dataset, part in variants.groupby("dataset", sort=False):
        metric = METRICS[part["metric"].iloc[0]].title
        shown = []
        for row in part.to_dict("records"):
            shown.append(f"{row['title']} {_with_error(row['change'], row['error'])} %")
        clauses.append(f"{dataset_title(str(dataset))} ({metric}): {', '.join(shown)}")
    if not clauses:
        return _means(study, scoring)
    return f"Change of the test metric when one part is altered: {'; '.join(clauses)}."


def _means(study: pd.DataFrame, scoring: Scoring) -> str:
    """The metrics of the variants of a study without a base."""
    variants = changes(study, scoring).dropna(subset="mean")
    clauses = []
    for dataset, part in variants.groupby("dataset", sort=False):
        metric = METRICS[part["metric"].iloc[0]]
        shown = []
        for row in part.to_dict("records"):
            mean = formatted(row["mean"], metric_decimals(row["mean"]))
            shown.append(f"{row['title']} {mean}")
        clauses.append(f"{dataset_title(str(dataset))} ({metric.title}): {', '.join(shown)}")
    if not clauses:
        return "No variant has a result."
    return f"Test metric of each variant, without a base: {'; '.join(clauses)}."


def _with_error(change: float, error: float) -> str:
    shown = formatted(change, 0, sign=True)
    return shown if pd.isna(error) else f"{shown} ± {formatted(error, 0)}"
