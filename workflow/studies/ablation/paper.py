"""The paper's ablations alongside ours (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def paper_facts(variants: set[str], row: Mapping[Any, Any]) -> dict[str, Any]:
    """The paper's numbers of a row, as far as it prints some for these variants of its dataset.

    Returns:
        `paper_table`, which may be empty; `published` and `published_error`, the mean and standard
        error of its test metric; `published_rank` and `published_rank_error` of Table 13, if the
        dataset has exactly its variants.
    """
    table = paper_table(row["dataset"], variants)
    facts: dict[str, Any] = {"paper_table": table}
    if row["method"] != "npt":
        return facts
    if table:
        cells = published()[table]["cells"].get(paper_name(row["dataset"]), {})
        metric = cells.get("metric", "rmse")
        cell = cells.get(row["variant"])
        if cell and PRINTED_METRICS.get(metric, metric) == row["metric"]:
            facts["published"], facts["published_error"] = scaled(cell, row["metric"])
    ranks = published()["table_13_configuration_rank"]["cells"].get(row["dataset"], {})
    if variants == set(ranks):
        cell = ranks[row["variant"]]
        facts["published_rank"] = cell["value"]
        facts["published_rank_error"] = cell["standard_error"]
    return facts
