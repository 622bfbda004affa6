"""Figures of the error by the number of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.drawing import (
    EQUAL,
    NPT_COLOR,
    OTHER_COLOR,
    by_title,
    facets,
    legend_below,
    logarithmic,
)
from workflow.report.titles import dataset_title, method_title, method_titles
from workflow.studies.errors import error_label
from workflow.studies.few_labels.tables import ALL, by_fold, values_of_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLORS = {"present": NPT_COLOR, "permuted": OTHER_COLOR}


def value_of_unlabelled_rows(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """By how much the error rises when rows without labels are removed, as the geometric mean over
    datasets with its standard error: RMSE, or the inverse of the probability of the true class.
    Above 1, unlabelled rows help. Rows with permuted features are the control.
    """
    values = values_of_rows(by_fold(study))
    values["factor"] = np.exp(values["value"])
    figure, methods = facets(values, "method", 8)
    for method, part, axis in methods:
        sns.lineplot(
            part,
            x="labels",
            y="factor",
            hue="unlabelled",
            style="unlabelled",
            palette=COLORS,
            markers=True,
            dashes=False,
            errorbar="se",
            ax=axis,
        )
        axis.axhline(1, **EQUAL)
        logarithmic(axis.xaxis)
        axis.set(
            title=method_title(str(method), BASE),
            xlabel="labelled train rows",
            ylabel="error without, times",
        )
    legend_below(figure, figure.axes[0], columns=2)
    return figure


def errors_by_labels(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error by the number of labelled train rows, as the mean over folds. Solid: all other
    train rows are there without their labels. Dashed: they are not there.
    """
    folds = by_fold(study)
    folds = folds[folds["labels"] != ALL]
    folds = folds.assign(title=method_titles(folds.assign(variant=BASE)))
    styles = by_title(folds.assign(variant=BASE))
    figure, datasets = facets(folds, "dataset", 10)
    for dataset, part, axis in datasets:
        for unlabelled, dashes in (("present", "-"), ("absent", "--")):
            sns.lineplot(
                part[part["unlabelled"] == unlabelled],
                x="labels",
                y="error",
                dashes=False,
                errorbar=None,
                linestyle=dashes,
                ax=axis,
                **styles,
            )
        logarithmic(axis.xaxis)
        axis.set(
            title=dataset_title(str(dataset)),
            xlabel="labelled train rows",
            ylabel=error_label(part["task"].iloc[0]),
        )
    legend_below(figure, figure.axes[0], columns=3)
    return figure
