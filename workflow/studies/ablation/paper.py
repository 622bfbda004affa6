"""The paper's ablations alongside ours (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workflow.report.published import paper_name, published, scaled

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


def paper_result(table: str, row: Mapping[Any, Any]) -> tuple[float, float]:
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


def paper_rank(variants: set[str], row: Mapping[Any, Any]) -> tuple[float, float]:
    """Rank and standard error of the paper's Table 13, if a dataset has exactly its variants."""
    printed = published()["table_13_configuration_rank"]["cells"].get(row["dataset"], {})
    if row["method"] != "npt" or variants != set(printed):
        return np.nan, np.nan
    cell = printed[row["variant"]]
    return cell["value"], cell["standard_error"]
