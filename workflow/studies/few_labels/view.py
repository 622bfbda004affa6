"""Errors by the number of labels, and what rows without labels are worth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from workflow.config.fields import BASE
from workflow.presentation.cells import metric_decimals, number, text, texts, times
from workflow.presentation.drawing import (
    EQUAL,
    NPT_COLOR,
    OTHER_COLOR,
    facets,
    legend_below,
    logarithmic,
)
from workflow.presentation.ranks import tests_over_datasets
from workflow.presentation.sections import Section, Table, View, model_cells, probe_table
from workflow.presentation.statistics import fold_means, standard_error, without_failures
from workflow.presentation.titles import method_title
from workflow.studies.errors import effect, errors, losses, p_values
from workflow.studies.few_labels import KIND

ALL = "all"
COLORS = {"present": NPT_COLOR, "permuted": OTHER_COLOR}
KEYS = ["dataset", "method", "task", "labels"]
OVER_DATASETS_NOTE = (
    "The geometric mean over datasets of the error without the unlabelled rows over the error with "
    "them: the RMSE, or the factor by which the probability of the true class rises. Above 1, they "
    "help. `Permuted`: the same for unlabelled rows whose features are permuted, each by itself, "
    "so that they carry marginal distributions alone. p is of a two-sided sign-flip permutation "
    "test over datasets, with Holm's correction for all rows of this table."
)
ERRORS_NOTE = (
    "RMSE, or the percentage of wrong classes, as the mean over folds, each with other labelled "
    "rows. `Absent`: the model is trained on the labelled rows alone. `Present`: all train rows "
    "are there, without the other labels. Rows with a label are the same for all, have the classes "
    "in proportion, and are among those of a larger number. Validation labels are as scarce. "
    "Features of validation and test rows are input of transductive models in every arm."
)


def few_labels(study: pd.DataFrame) -> Table:
    """What unlabelled rows are worth over datasets, and the error of each model."""
    folds = by_fold(study)
    means = folds.groupby([*KEYS, "unlabelled"], sort=False).agg(
        error=("error", "mean"), standard_error=("error", standard_error), loss=("loss", "mean")
    )
    tidy = means.reset_index()
    sections = _over_datasets(values_of_rows(folds))
    rows = []
    present = tidy[tidy["unlabelled"] != "permuted"].assign(variant=BASE)
    for _, part in present.groupby(["dataset", "method", "unlabelled"], sort=False):
        first = part.iloc[0]
        cells = {**model_cells(first), "Unlabelled rows": text(first["unlabelled"])}
        digits = metric_decimals(part["error"].min()) if first["task"] == "regression" else 1
        for row in part.to_dict("records"):
            title = "All labels" if row["labels"] == ALL else f"{row['labels']} labels"
            cells[title] = number(row["error"], digits, error=row["standard_error"])
        rows.append(cells)
    title = "Test error by the number of labelled train rows"
    sections += probe_table(study, tidy, title, rows, ERRORS_NOTE).sections
    return Table(tidy, tuple(sections))


def by_fold(study: pd.DataFrame) -> pd.DataFrame:
    """Errors of each model, number of labels, arm and fold; none of a model with a failed fold.

    `labels` is `all`, and `unlabelled` is `present`, for the base.
    """
    rows = fold_means(without_failures(study))
    trained = [KIND.train_rows(variant) for variant in rows["variant"]]
    return rows.assign(
        labels=[train.labels or ALL for train in trained],
        unlabelled=[train.unlabelled for train in trained],
        error=errors(rows, "test_"),
        loss=losses(rows, "test_"),
    )


def values_of_rows(folds: pd.DataFrame) -> pd.DataFrame:
    """Mean over folds of the loss without unlabelled rows minus that with them.

    A row for each dataset, method and number of labels, and a column for each of `COLORS`.
    """
    few = folds[folds["labels"] != ALL]
    by_arm = few.set_index([*KEYS, "fold", "unlabelled"])["loss"].unstack()
    by_arm = by_arm.reindex(columns=[*COLORS, "absent"])
    values = {arm: effect(by_arm[arm], by_arm["absent"]) for arm in COLORS}
    return pd.DataFrame(values).groupby(KEYS, sort=False).mean(skipna=False).reset_index()


def _over_datasets(values: pd.DataFrame) -> list[Section]:
    """A row for each method and number of labels on at least six datasets."""
    names = ["method", "labels"]
    known = values.dropna()
    tests = tests_over_datasets(known, names, "present")
    if tests.empty:
        return []
    tests = tests.join(known.groupby(names)["permuted"].mean(), on=names)
    counts = zip(tests["positive"], tests["datasets"], strict=True)
    columns = {
        "Method": [text(method_title(method, BASE)) for method in tests["method"]],
        "Labels": texts(tests["labels"]),
        "Present": texts(map(times, np.exp(tests["mean"]))),
        "Helped": [text(f"{helped} of {datasets}") for helped, datasets in counts],
        "Permuted": texts(map(times, np.exp(tests["permuted"]))),
        "p, Holm": p_values(tests["p_value"]),
    }
    return [Section("What rows without labels are worth", columns, (OVER_DATASETS_NOTE,))]


def value_of_unlabelled_rows(study: pd.DataFrame) -> Figure:
    """By how much the logarithm of the error rises when rows without labels are removed, as the
    mean over datasets with its standard error: RMSE, or the inverse of the probability of the true
    class. Above 0, unlabelled rows help. Rows with permuted features are the control.
    """
    values = values_of_rows(by_fold(study)).melt(KEYS, list(COLORS), "unlabelled")
    figure, methods = facets(values, "method", 8)
    for method, part, axis in methods:
        sns.lineplot(
            part,
            x="labels",
            y="value",
            hue="unlabelled",
            style="unlabelled",
            palette=COLORS,
            markers=True,
            dashes=False,
            errorbar="se",
            ax=axis,
        )
        axis.axhline(0, **EQUAL)
        logarithmic(axis.xaxis)
        axis.set(
            title=method_title(str(method), BASE),
            xlabel="labelled train rows",
            ylabel="rise of log error",
        )
    legend_below(figure, columns=2)
    return figure


VIEW = View({"few_labels": few_labels}, {"value_of_unlabelled_rows": value_of_unlabelled_rows})
