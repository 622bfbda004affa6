"""The paper's ablations alongside ours (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.report.published import in_standard_errors, paper_name, published, scaled

TABLE_5_VARIANTS = {"base", "without_attributes", "no_feature_masking"}
PRINTED_METRICS = {"accuracy_percent": "accuracy"}


def paper_table(variants: set[str]) -> str:
    """The table of the paper that has these variants; empty if there is none."""
    if set(published()["table_4_ablation"]["cells"]["protein"]) <= variants:
        return "table_4_ablation"
    return "table_5_ablation" if variants >= TABLE_5_VARIANTS else ""


def with_paper_results(part: pd.DataFrame, table: str) -> pd.DataFrame:
    """Add the paper's results, and the differences from them in standard errors."""
    rows = part.to_dict("records")
    results = [_paper_result(table, row) for row in rows]
    differences = []
    for row, result in zip(rows, results, strict=True):
        differences.append(in_standard_errors(row["mean"], row["standard_error"], *result))
    return part.assign(
        published=[mean for mean, _ in results],
        published_error=[error for _, error in results],
        standard_errors=differences,
    )


def _paper_result(table: str, row: Mapping[Any, Any]) -> tuple[float, float]:
    """Mean and standard error that the paper prints; NaN where it prints none."""
    unknown = (np.nan, np.nan)
    if not table or row["method"] != "npt":
        return unknown
    cells = published()[table]["cells"].get(paper_name(row["dataset"]), {})
    printed_metric = cells.get("metric", "rmse")
    cell = cells.get(row["variant"])
    if not cell or PRINTED_METRICS.get(printed_metric, printed_metric) != row["metric"]:
        return unknown
    return scaled(cell, row["metric"])


def with_paper_ranks(tidy: pd.DataFrame) -> pd.DataFrame:
    """Add the ranks of the paper's Table 13, where a study has exactly its variants."""
    table = published()["table_13_configuration_rank"]["cells"]
    variants = tidy.groupby("dataset")["variant"].agg(set)
    means = []
    errors = []
    for row in tidy.to_dict("records"):
        printed = table.get(row["dataset"], {})
        cell = {}
        if row["method"] == "npt" and variants[row["dataset"]] == set(printed):
            cell = printed[row["variant"]]
        means.append(cell.get("value", np.nan))
        errors.append(cell.get("standard_error", np.nan))
    return tidy.assign(published=means, published_error=errors)
