"""Figure of distances to kept, deleted and random rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import NPT_COLOR, OTHER_COLOR, panels
from workflow.report.statistics import MODEL, of_model
from workflow.report.titles import dataset_title, method_title
from workflow.studies.deletion.tables import DISTANCES, probed_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAR = 20  # times the median distance, beyond which an axis becomes logarithmic


def deletion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Distance to the kept rows against that to deleted and random rows, for each probed row."""
    probed = probed_rows(study)
    models = probed[MODEL].drop_duplicates().to_dict("records")
    figure, axes = panels(max(1, len(models)), 10)
    for model, axis in zip(models, axes, strict=False):
        _panel(axis, of_model(probed, model))
        method = method_title(model["method"], model["variant"])
        axis.set_title(f"{dataset_title(model['dataset'])}\n{method}")
    return figure


def _panel(axis: Axes, part: pd.DataFrame) -> None:
    for name, color, marker in (("deleted", OTHER_COLOR, "o"), ("random", NPT_COLOR, "D")):
        label = f"against {name}"
        axis.plot(
            part[name],
            part["kept"],
            marker,
            color=color,
            markersize=4,
            label=label,
        )
    distances = part[DISTANCES].to_numpy()
    ends = [float(np.nanmin(distances)), float(np.nanmax(distances))]
    median = float(np.nanmedian(distances))
    if ends[1] > FAR * median > 0:  # a few rows lie far from all others
        axis.set_xscale("symlog", linthresh=median)
        axis.set_yscale("symlog", linthresh=median)
    axis.plot(ends, ends, color="0.3", linestyle=":", linewidth=1.2)
    axis.set_xlabel("mean distance to the others")
    axis.set_ylabel("mean distance to the kept")
    axis.legend()
