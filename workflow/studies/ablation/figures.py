"""Figure of an ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.drawing import EQUAL, facets, points
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.ablation.tables import changes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ablation(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of the test metric when one part of the model is removed or altered, with its standard
    error over folds. In a study without a whole model, the metric itself with its deviation over
    seeds. A change near zero shows no measurable effect of that part on these folds.
    """
    tidy = changes(study, scoring)
    variants = tidy[tidy["variant"] != BASE]
    figure, datasets = facets(variants.assign(title=method_titles(variants)), "dataset")
    for dataset, part, axis in datasets:
        metric = METRICS[part["metric"].iloc[0]]
        label = f"test {metric.title}"
        if part["change"].notna().any():
            points(axis, part, "change", "change_error")
            axis.axvline(0, **EQUAL)
            label = f"change of {label}"
        else:
            points(axis, part, "mean", "seed_deviation")
        better = "right" if metric.higher_is_better else "left"
        axis.set(title=dataset_title(dataset), xlabel=f"{label}\n({better} is better)")
    return figure
