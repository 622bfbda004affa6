"""Figure of distances to kept, deleted and random rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, NPT_COLOR, OTHER_COLOR, facets, legend_below
from workflow.report.statistics import MODEL
from workflow.report.titles import model_title
from workflow.studies.deletion.tables import DISTANCES, probed_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAR = 20  # times the median distance, beyond which an axis becomes logarithmic
COLORS = {"deleted": OTHER_COLOR, "random": NPT_COLOR}


def deletion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Other rows were deleted from the context of each probed row as long as its prediction stayed
    the same. A mark is one probed row. Below the diagonal, the rows that the prediction needs are
    nearer than those that it does not need.
    """
    figure, models = facets(probed_rows(study), MODEL, 10)
    for _, part, axis in models:
        distances = part[DISTANCES].to_numpy()
        ends = [np.nanmin(distances), np.nanmax(distances)]
        median = np.nanmedian(distances)
        if ends[1] > FAR * median > 0:  # a few rows lie far from all others
            axis.set_xscale("symlog", linthresh=median)
            axis.set_yscale("symlog", linthresh=median)
        sns.scatterplot(
            part.melt(["kept"], list(COLORS), "against", "distance"),
            x="distance",
            y="kept",
            hue="against",
            style="against",
            palette=COLORS,
            ax=axis,
        )
        axis.plot(ends, ends, **EQUAL)
        axis.set(
            title=model_title(part.iloc[0]),
            xlabel="mean distance to deleted, or random rows",
            ylabel="mean distance to kept rows",
        )
    legend_below(figure, figure.axes[0], columns=2)
    return figure
