"""Influence of one row on another's prediction, and its certified bound."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from workflow.presentation.cells import formatted, scientific, with_errors
from workflow.presentation.drawing import facets, legend_below, logarithmic
from workflow.presentation.sections import Table, View, model_table
from workflow.presentation.statistics import by_model, framed, standard_error
from workflow.presentation.titles import dataset_title, method_titles
from workflow.studies.errors import error_label, errors

BOUNDS = ["bound_maximum", "bound_euclidean"]
MEASURES = ["bound", "largest_influence", "corruption", "error", "standard_error"]
NOTE = (
    "Influence in standard deviations of the train targets, or of the predicted class's "
    "probability. `Certified`: no change of the visible cells of one other row within the ranges "
    "of their columns moves a prediction further; the largest of the folds. It is the product of "
    "the bounds of all blocks in the maximum or the Euclidean norm, whichever is smaller, and "
    "exists for tied distances alone, without LayerNorm or with its centring. It does not cover "
    "cells that become hidden or visible, as they may under corruption. `Largest found`: by "
    "gradient ascent over one other row in double precision, which may stop at a local maximum; "
    "the largest of the folds and probed rows. `Corruption`: mean movement when all other rows "
    "are permuted column by column, which is more than one row. It is computed in single "
    "precision, whose rounding is about 1e-7. `Error`: RMSE, or the percentage of wrong classes, "
    "of all test rows."
)
MARKS = {
    "bound": {"marker": "v", "s": 25, "label": "certified"},
    "largest_influence": {"marker": "o", "s": 20, "label": "largest found"},
    "corruption": {"marker": "|", "s": 80, "label": "mean, all other rows permuted"},
}
SMALLEST = 1e-16  # influence that is drawn


def influence_table(study: pd.DataFrame) -> Table:
    """A row for each model: its error, the certified bound, and what moves its predictions."""
    tidy = influences(study)
    columns = {
        "Error": with_errors(tidy, "error"),
        "Certified": [scientific(bound, 2) for bound in tidy["bound"]],
        "Largest found": [scientific(largest, 2) for largest in tidy["largest_influence"]],
        "Corruption": [scientific(mean, 2) for mean in tidy["corruption"]],
    }
    return model_table(tidy, "Influence of one other row", columns, (NOTE,))


def influences(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each model: largest over folds, or means; none of them after a failed fold."""
    rows = []
    for model in by_model(study):
        folds = model.rows
        rows.append(model.facts())
        if folds.empty:
            continue
        test_errors = errors(folds, "test_")
        bounds = folds[BOUNDS].apply(pd.to_numeric).max(skipna=False)  # NaN if a fold has none
        rows[-1] |= {
            "bound": bounds.min(skipna=False),
            "largest_influence": folds["largest_influence"].max(),
            "corruption": folds["corruption"].mean(),
            "error": test_errors.mean(),
            "standard_error": standard_error(test_errors),
        }
    return framed(rows, MEASURES)


def influence_figure(study: pd.DataFrame) -> Figure:
    """How far one other row moves a prediction, in standard deviations of the train targets or in
    probability. Triangle: the certified bound of all changes of its visible cells within the ranges
    of their columns, the product of the bounds of all blocks in the norm that gives less. It exists
    for tied distances alone, without LayerNorm or with its centring. Dot: the largest movement that
    gradient ascent found within these ranges. Bar: the mean movement when all other rows are
    permuted, which is more than one row and also moves hidden cells. The number of a model is its
    error on all test rows. Influences below 1e-16 are drawn there.
    """
    means = influences(study).dropna(subset="error")
    titles = zip(method_titles(means), means["error"], strict=True)
    means["label"] = [f"{title}, {formatted(error, 2)}" for title, error in titles]
    figure, datasets = facets(means, "dataset")
    for dataset, part, axis in datasets:
        for name, mark in MARKS.items():
            axis.scatter(part[name].clip(SMALLEST), part["label"], **mark)
        logarithmic(axis.xaxis)
        axis.invert_yaxis()
        task = part["task"].iloc[0]
        unit = "standard deviations" if task == "regression" else "probability"
        axis.set_xlabel(f"influence, {unit}", loc="right")
        axis.set_title(f"{dataset_title(str(dataset))}, with {error_label(task)}", loc="right")
    legend_below(figure, columns=3)
    return figure


VIEW = View(tables={"influence": influence_table}, figures={"influence": influence_figure})
