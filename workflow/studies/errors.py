"""Errors as figures show them, and effects: differences of a loss, the same in all studies.

The loss is the logarithm of the RMSE, or the NLL of classes in nats per row. A mean effect over
folds is therefore the logarithm of the geometric mean of RMSE ratios, or a mean difference of NLLs.
Positive is worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from npt.table import Task
from workflow.presentation.cells import (
    Cell,
    counted,
    emphasised,
    followed_by,
    formatted,
    listed,
    p_value,
    texts,
    times,
)
from workflow.presentation.ranks import tests_over_datasets
from workflow.presentation.sections import Section
from workflow.presentation.statistics import LEVEL, METHOD, datasets_and_folds
from workflow.presentation.titles import method_title, method_titles

ROUNDING = 1e-5  # effect that single precision may cause
MEANS_NOTE = (
    "The geometric mean over datasets of the factor of RMSE, or the mean increase of the NLL in "
    "nats per row"
)
OVER_DATASETS_NOTE = (
    MEANS_NOTE + ", and the datasets that are worse. p is of two-sided sign-flip permutation tests "
    "over datasets, with Holm's correction for the {models}, of regressions and classifications "
    "apart."
)
REGRESSION, CLASSES = "multiplies the RMSE by", "adds to the NLL, in nats per row,"


def errors(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """RMSE, or the percentage of wrong classes, by metrics whose names begin with `prefix`."""
    rmse, accuracy = float_columns(rows, f"{prefix}rmse", f"{prefix}accuracy")
    return rmse.where(rows["task"] == "regression", 100 * (1 - accuracy))


def error_label(task: Task) -> str:
    """Label of an axis of errors."""
    return "test RMSE" if task == "regression" else "test errors, %"


def losses(rows: pd.DataFrame, prefix: str = "") -> pd.Series:
    """The loss of each row; NaN if it lacks the metric, or has no error."""
    rmse, nll = float_columns(rows, f"{prefix}rmse", f"{prefix}nll")
    logarithms = rmse.where(rmse > 0).transform(np.log)
    return logarithms.where(rows["task"] == "regression", nll)


def float_columns(rows: pd.DataFrame, *names: str) -> list[pd.Series]:
    """Some columns; NaN where the rows lack them."""
    known = rows.reindex(columns=list(names)).astype(float)
    return [known[name] for name in names]


def factor_label(task: Task) -> str:
    """What the exponential of an effect is a factor of."""
    return "× RMSE" if task == "regression" else "÷ P(true class)"


def effect(before: pd.Series, after: pd.Series) -> pd.Series:
    """Differences of losses, 0 where rounding may have caused them."""
    difference = after - before
    return difference.mask(difference.abs() <= ROUNDING, 0.0)


def effect_text(value: float, task: Task) -> str:
    """The factor of an RMSE, or a difference of NLLs."""
    if task == "regression":
        return times(float(np.exp(value)))
    return formatted(value, 2, sign=True)


def effect_cell(value: float, task: Task) -> Cell:
    """A mean effect as a cell; NaN is a dash."""
    return Cell(effect_text(value, task))


def effects_answer(tidy: pd.DataFrame, change: str, effect: str = "effect") -> str:
    """What a change does to each method's error: the means over datasets, the largest first.

    Args:
        tidy: A row per model, with `effect` as of `workflow.studies.errors` and its `folds`.
        change: Subject of the sentence, such as `Shuffling the other rows`.
        effect: Column of the effects.
    """
    known = tidy.dropna(subset=effect)
    sentences = []
    for is_regression, part in known.groupby(known["task"] == "regression", sort=False):
        task = "regression" if is_regression else "binary"
        means = part.groupby(METHOD)[effect].mean().sort_values(ascending=False)
        datasets = part.groupby(METHOD)["dataset"].nunique()
        items = []
        for (method, variant), mean in means.items():  # type: ignore[misc]
            size = effect_text(mean, task).removeprefix("× ").removeprefix("+")
            title = method_title(method, variant)
            if datasets[method, variant] < datasets.max():
                title += f", {counted(datasets[method, variant], 'dataset')}"
            items.append(f"{size} ({title})")
        verb = REGRESSION if is_regression else CLASSES
        sentences.append(f"{change} {verb} {listed(items)}; {datasets_and_folds(part)}.")
    return " ".join(sentences)


def effects_over_datasets(
    tidy: pd.DataFrame, title: str, effects: Mapping[str, str], by: Mapping[str, str] = {}
) -> list[Section]:
    """A section of mean effects over at least six regressions, or classifications, with tests.

    Args:
        tidy: A row per dataset and model, with its `task`.
        effects: Titles by the columns of the effects.
        by: Titles by further columns that name a row.
    """
    tidy = tidy.assign(tables=kinds_of_tables(tidy))
    keys = [*METHOD, *by, "tables"]
    groups = pd.MultiIndex.from_frame(tidy[keys].drop_duplicates())
    by_effect = {}
    for name in effects:
        tests = tests_over_datasets(tidy, keys, name, [*by, "tables"])
        by_effect[name] = tests.set_index(keys).reindex(groups)
    tested = pd.concat(by_effect, axis=1).dropna(how="all")
    if tested.empty:
        return []
    rows = tested.index.to_frame(index=False)
    columns = {"Method": texts(method_titles(rows))}
    for name, heading in {**by, "tables": "Datasets"}.items():
        columns[heading] = texts(rows[name])
    for name, heading in effects.items():
        tests = tested[name].reset_index()
        cells = []
        for row in tests.to_dict("records"):
            worse = f" ({row['positive']:.0f} of {row['datasets']:.0f})"
            task: Task = "regression" if row["tables"] == "regressions" else "binary"
            cells.append(followed_by(effect_cell(row["mean"], task), worse))
        columns[heading] = cells
        columns[f"p, {heading.lower()}"] = p_values(tests["p_value"])
    models = " of each ".join(["models", *map(str.lower, by.values())])
    return [Section(title, columns, (OVER_DATASETS_NOTE.format(models=models),))]


def kinds_of_tables(tidy: pd.DataFrame) -> pd.Series:
    """What the datasets of rows are."""
    return (tidy["task"] == "regression").map({True: "regressions", False: "classifications"})


def p_values(values: Iterable[float]) -> list[Cell]:
    """A column of p-values, bold below the level of all tests."""
    return [emphasised(p_value(value), value < LEVEL) for value in values]
