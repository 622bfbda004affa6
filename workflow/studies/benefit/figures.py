"""Figure of dependence alongside benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

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

KINDS = {
    "depends": ("depends: permuted", OTHER_COLOR, "o"),
    "benefits": ("benefits: trained without", NPT_COLOR, "D"),
}
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
    most = max(sources.groupby("method").size(), default=0)
    figure, methods = facets(sources.assign(title=titles), "method", 2 + most)
    for method, part, axis in methods:
        for name, (kind, color, marker) in KINDS.items():
            factor = np.exp(part[name])
            error = np.exp(part[f"{name}_error"].fillna(0))
            ends = [factor - factor / error, factor * error - factor]
            axis.errorbar(factor, part["title"], xerr=ends, fmt=marker, color=color, label=kind)
        axis.invert_yaxis()
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
