"""Change of test performance when all other rows are corrupted (paper Table 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE_METHODS,
    difference_cell,
    in_standard_errors,
    paper_name,
    published,
)
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import ModelRows, by_model, standard_error
from workflow.studies.error_columns import model_columns, numbers, with_errors

NOTE = (
    "Every column of all other rows is permuted, each by its own permutation. The control is the "
    "same procedure with the identity permutation, for up to 20 rows of a fold. The paper's "
    "numbers are of NPTs at full size."
)
ACCURACY_TITLE = "Change of accuracy when all other rows are corrupted, in points"
RMSE_TITLE = "Relative change of RMSE when all other rows are corrupted, in percent"


def corruption(study: pd.DataFrame, scoring: Scoring) -> Table:
    """The paper's Table 2: points of accuracy, percent of RMSE."""
    tidy = pd.DataFrame([_row(model) for model in by_model(with_changes(study))])
    is_regression = tidy["task"] == "regression"
    sections = []
    for title, part in ((ACCURACY_TITLE, tidy[~is_regression]), (RMSE_TITLE, tidy[is_regression])):
        if len(part):
            section = Section(title, _columns(part), failure_notes(part))
            sections.append(section.without_empty("Paper", DIFFERENCE))
    notes = [NOTE]
    if tidy["published"].notna().any():
        notes.append(DIFFERENCE_NOTE)
    return Table(tidy, with_notes(sections, *notes))


def with_changes(study: pd.DataFrame) -> pd.DataFrame:
    """A study with the columns clean, corrupted, change and control.

    `clean` and `corrupted` are accuracy in percent, or RMSE. `change` is the difference of the
    accuracies, or minus the relative change of RMSE in percent, so that negative is worse.
    `control` is the change with the identity permutation.
    """
    clean = _performance(study, "clean")
    corrupted = _performance(study, "corrupted")
    before = _performance(study, "control_clean")
    after = _performance(study, "control")
    is_regression = study["task"] == "regression"
    return study.assign(
        clean=clean,
        corrupted=corrupted,
        change=_change(clean, corrupted, is_regression),
        control=_change(before, after, is_regression),
    )


def _performance(study: pd.DataFrame, state: str) -> pd.Series:
    """Accuracy in percent, or RMSE."""
    accuracy = 100 * _column(study, f"{state}_accuracy")
    return _column(study, f"{state}_rmse").where(study["task"] == "regression", accuracy)


def _column(study: pd.DataFrame, name: str) -> pd.Series:
    return study[name] if name in study else pd.Series(np.nan, index=study.index)


def _change(
    before: pd.Series,
    after: pd.Series,
    is_regression: pd.Series,
) -> pd.Series:
    relative = -100 * (after - before) / before
    return relative.where(is_regression, after - before)


def _row(model: ModelRows) -> dict[str, Any]:
    rows = model.rows
    is_regression = model.task == "regression"
    change = rows["change"].mean()
    error = standard_error(rows["change"])
    paper = _published(model)
    return {
        **model.facts(),
        "measure": "relative RMSE, percent" if is_regression else "accuracy, points",
        "clean": rows["clean"].mean(),
        "corrupted": rows["corrupted"].mean(),
        "change": change,
        "control": rows["control"].mean(),
        "standard_error": error,
        "published": paper,
        "standard_errors": in_standard_errors(
            change,
            error,
            paper,
            np.nan,
        ),
    }


def _published(model: ModelRows) -> float:
    """The paper's change; NaN if it prints none."""
    if model.method != "npt" or model.variant not in WHOLE_METHODS:
        return np.nan
    tables = published()["table_2_corruption"]
    if model.task == "regression":
        changes = tables["change_in_rmse_percent_of_rmse"]
    else:
        changes = tables["change_in_accuracy_points"]
    return float(changes.get(paper_name(model.dataset), np.nan))


def _columns(part: pd.DataFrame) -> dict[str, list[Cell]]:
    is_regression = part["task"].iloc[0] == "regression"
    quantity, digits, paper_digits = ("RMSE", 2, 0) if is_regression else ("accuracy, %", 1, 1)
    return {
        **model_columns(part),
        f"Clean {quantity}": numbers(part["clean"], digits),
        f"Corrupted {quantity}": numbers(part["corrupted"], digits),
        "Change": with_errors(part, "change", 1, sign=True),
        "Control": numbers(part["control"], 1, sign=True),
        "Paper": numbers(part["published"], paper_digits, sign=True),
        DIFFERENCE: [difference_cell(errors) for errors in part["standard_errors"]],
    }
