"""Ranks of methods within datasets, and their means (paper Table 1)."""

from __future__ import annotations

import pandas as pd

from npt.interface import UserError
from workflow.report.summary import standard_error


def rank_methods(summary: pd.DataFrame, *, higher_is_better: bool) -> pd.DataFrame:
    """Add `rank` to a frame of dataset, method, variant, mean and reason: 1 is best, equal means share the average rank.

    A method without a mean takes the last rank if its row has a reason.

    Raises:
        UserError: a method has no result on a dataset and no reason for it.
    """
    methods = summary[["method", "variant"]].drop_duplicates()
    complete = summary[["dataset"]].drop_duplicates().merge(methods, how="cross")
    ranked = complete.merge(summary, on=["dataset", "method", "variant"], how="left")
    holes = ranked[ranked["mean"].isna() & (ranked["reason"].fillna("") == "")]
    if len(holes):
        hole = holes.iloc[0]
        raise UserError(f"{hole['dataset']}: {hole['method']} ({hole['variant']}) has no result and no reason; not ranked")
    ranked["rank"] = ranked.groupby("dataset")["mean"].rank(ascending=not higher_is_better, method="average")
    ranked["rank"] = ranked["rank"].fillna(len(methods))
    return ranked


def mean_ranks(ranked: pd.DataFrame) -> pd.DataFrame:
    """Mean rank over datasets with its standard error (ddof 1 over the root of their number), best first."""
    groups = ranked.groupby(["method", "variant"], sort=False)["rank"]
    means = groups.agg(mean_rank="mean", standard_error=standard_error, datasets="count").reset_index()
    return means.sort_values(["mean_rank", "method", "variant"], ignore_index=True)
