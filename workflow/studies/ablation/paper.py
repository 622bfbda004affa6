"""The paper's ablations alongside ours (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.report.published import differences_from_paper, paper_name, published, scaled

TABLE_5_VARIANTS = {"base", "without_attributes", "no_feature_masking"}
PRINTED_METRICS = {"accuracy_percent": "accuracy"}


def paper_table(dataset: str, variants: set[str]) -> str:
    """The table of the paper that has these variants; empty if there is none.

    A dataset whose base masks no features needs no variant without.
    """
    table_4_variants = published()["table_4_ablation"]["cells"]["protein"]
    if variants >= set(table_4_variants):
        return "table_4_ablation"
    unmasked = published()["table_5_ablation"]["without_feature_masking_by_default"]
    if paper_name(dataset) in unmasked:
        variants = {*variants, "no_feature_masking"}
    if variants >= TABLE_5_VARIANTS:
        return "table_5_ablation"
    return ""


def with_paper_results(part: pd.DataFrame, table: str) -> pd.DataFrame:
    """Add the paper's results, and the differences from them in standard errors."""
    means = []
    errors = []
    for row in part.to_dict("records"):
        mean, error = _paper_result(table, row)
        means.append(mean)
        errors.append(error)
    part = part.assign(published=means, published_error=errors)
    differences = differences_from_paper(part, "mean")
    return part.assign(standard_errors=differences)


def _paper_result(table: str, row: Mapping[Any, Any]) -> tuple[float, float]:
    """Mean and standard error that the paper prints; NaN where it prints none."""
    unknown = (np.nan, np.nan)
    if not table or row["method"] != "npt":
        return unknown
    dataset = paper_name(row["dataset"])
    cells = published()[table]["cells"].get(dataset, {})
    printed = cells.get("metric", "rmse")
    metric = PRINTED_METRICS.get(printed, printed)
    if metric != row["metric"] or not cells.get(row["variant"]):
        return unknown
    return scaled(cells[row["variant"]], row["metric"])


def with_paper_ranks(tidy: pd.DataFrame) -> pd.DataFrame:
    """Add the ranks of the paper's Table 13, where a study has exactly its variants."""
    table = published()["table_13_configuration_rank"]["cells"]
    variants = tidy.groupby("dataset")["variant"].agg(set)
    means = []
    errors = []
    for row in tidy.to_dict("records"):
        dataset = row["dataset"]
        printed = table.get(dataset, {})
        cell = {}
        if row["method"] == "npt" and variants[dataset] == set(printed):
            cell = printed[row["variant"]]
        means.append(cell.get("value", np.nan))
        errors.append(cell.get("standard_error", np.nan))
    return tidy.assign(published=means, published_error=errors)
