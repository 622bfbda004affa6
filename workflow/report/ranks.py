"""Ranks of methods within datasets, and their means (paper Table 1)."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from npt.interface import UserError
from workflow.config.scoring import Ranking
from workflow.report.summary import standard_error

# The paper ranked values with more digits than it prints; of all orders of methods that print alike this one gives its Table 1.
ORDER_OF_EQUALS = (
    "random_forest", "catboost", "gradient_boosting", "xgboost", "lightgbm", "mlp", "knn", "tabnet", "npt",
)  # fmt: skip


def rank_methods(
    summary: pd.DataFrame,
    *,
    higher_is_better: bool,
    ranking: Ranking = "shared",
    unranked: Collection[str] = (),
) -> pd.DataFrame:
    """Add `rank` to a frame of dataset, method, variant, mean and reason: 1 is best.

    With `shared` equal means share the average of their ranks. With `paper` no ranks are shared, as in its Table 1: equal means
    are ranked in `ORDER_OF_EQUALS`, methods that it does not have after those. In both a method without a mean takes the last
    rank if its row has a reason, as one that ran out of memory does in the paper. `unranked` datasets have no ranks.

    Raises:
        UserError: a method has no result on a dataset and no reason for it.
    """
    methods = summary[["method", "variant"]].drop_duplicates()
    complete = summary[["dataset"]].drop_duplicates().merge(methods, how="cross")
    ranked = complete.merge(summary, on=["dataset", "method", "variant"], how="left")
    holes = ranked[ranked["mean"].isna() & (ranked["reason"].fillna("") == "")]
    if len(holes):
        hole = holes.iloc[0]
        raise UserError(
            f"{hole['dataset']}: {hole['method']} ({hole['variant']}) has no result and no reason; not ranked"
        )
    means = ranked["mean"]
    if ranking == "paper":
        places = {name: place for place, name in enumerate(ORDER_OF_EQUALS)}
        means = means.loc[
            ranked["method"]
            .map(lambda name: places.get(str(name), len(places)))
            .sort_values(kind="stable")
            .index
        ]
    by_dataset = means.groupby(ranked["dataset"])
    ranks = by_dataset.rank(
        ascending=not higher_is_better, method="first" if ranking == "paper" else "average"
    )
    return ranked.assign(
        rank=ranks.fillna(len(methods)).mask(ranked["dataset"].isin(list(unranked)))
    )


def mean_ranks(ranked: pd.DataFrame) -> pd.DataFrame:
    """Mean rank over datasets with its standard error (ddof 1 over the root of their number), best first."""
    groups = ranked.groupby(["method", "variant"], sort=False)["rank"]
    means = groups.agg(
        mean_rank="mean", standard_error=standard_error, datasets="count"
    ).reset_index()
    return means.sort_values(["mean_rank", "method", "variant"], ignore_index=True)
