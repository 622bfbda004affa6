"""Figure of dependence alongside benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    EQUAL,
    NPT_COLOR,
    OTHER_COLOR,
    facets,
    legend_below,
    logarithmic,
)
from workflow.report.titles import dataset_title, method_title
from workflow.studies.benefit.tables import effects

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"depends": "depends: permuted", "benefits": "benefits: trained without"}
FACTORS = {"regression": "× RMSE"}
CLASS_FACTOR = "÷ P(true class)"


def benefit(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Factor by which the test RMSE grows without a source of information, or by which the
    probability of the true class falls (the exponential of the increase of the NLL): when the
    source is permuted for the trained model (depends), and when a twin is trained without it
    (benefits). Right of 1 is worse without. Marks are geometric means over folds, bars standard
    errors. A mark near 1 shows no effect on these folds, which is not proof that there is none.
    """
    sources = effects(study, scoring)
    sources = sources[sources["twin"] != ""]
    titles = sources["dataset"].map(dataset_title) + ": " + sources["source"]
    bars = []
    for name, kind in KINDS.items():
        for sign in (-1, 0, 1):
            end = sources[name] + sign * sources[f"{name}_error"].fillna(0)
            bars.append(sources.assign(title=titles, kind=kind, factor=np.exp(end)))
    factors = pd.concat(bars, ignore_index=True)
    most = max(sources.groupby("method").size(), default=0)
    figure, methods = facets(factors, "method", 2 + most)
    for method, part, axis in methods:
        sns.pointplot(
            part,
            x="factor",
            y="title",
            hue="kind",
            hue_order=list(KINDS.values()),
            palette=[OTHER_COLOR, NPT_COLOR],
            markers=["o", "D"],
            markersize=3.5,
            linestyle="none",
            linewidth=1.2,
            dodge=0.26,
            estimator="median",
            errorbar=("pi", 100),  # from the lower to the upper end of a bar
            log_scale=True,
            ax=axis,
        )
        axis.axvline(1, **EQUAL)
        logarithmic(axis.xaxis)
        axis.margins(x=0.1)
        measures = part["task"].map(FACTORS).fillna(CLASS_FACTOR).unique()
        axis.set(
            title=method_title(method, part["variant"].iloc[0]),
            xlabel=f"{' or '.join(measures)}\n(right is worse without)",
            ylabel="",
        )
        axis.grid(axis="y", visible=False)
    legend_below(figure, figure.axes[0], columns=2)
    return figure
