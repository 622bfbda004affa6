"""Effect on test performance when other rows are corrupted (paper Table 2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, p_value, scientific, text
from workflow.report.fold_tests import fold_test, fraction_tested
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    difference_cells,
    in_standard_errors,
)
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    LEVEL,
    MODEL,
    by_model,
    of_model,
    standard_error,
    with_columns,
)
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import change
from workflow.studies.corruption.paper import published_change
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.error_columns import model_columns, numbers, texts, with_errors
from workflow.studies.errors import effect, effect_cell, losses

MOVEMENT = "Predictions move"
CHANGE = "Change, %"
PAPER = "As in the paper's Table 2"
CONTROL = "Control"
NOTES = (
    "Each column of the other rows is permuted by its own permutation: all columns of all rows, or "
    "the named ones, with all other cells intact. The rows of a baseline are its train rows. With "
    "an encoder, the features of other images' encodings are permuted, not their pixels. Corrupted "
    "scores are means over the permutations.",
    f"`{MOVEMENT}`: the root mean square of the differences, in standard deviations of the train "
    "targets; of classes, the mean total variation distance of the probabilities.",
    "`Ratio`: the geometric mean over folds of corrupted over clean RMSE.",
    "`NLL`: the mean increase of the negative log-likelihood, in nats per row.",
    "p is of the corrected resampled t-test (Nadeau and Bengio 2003) over at least three folds, of "
    "the logarithm of the ratio or of the NLL. What it does not detect is not excluded.",
    f"`{CONTROL}`: the largest effect of the identity permutation on a logarithm of RMSE or an "
    "NLL, for up to 20 rows of a fold.",
    f"`{CHANGE}`: of the RMSE with its sign, or of the accuracy in points; negative is worse.",
    f"`{PAPER}`: of NPTs at full size, on the small datasets of the variants that mask targets.",
    f"`{DIFFERENCE}`: {DIFFERENCE_NOTE}",
)
TITLES = {
    False: "Classes: what corrupting other rows costs",
    True: "RMSE: what corrupting other rows costs",
}
OPTIONAL = (
    MOVEMENT,
    "Clean NLL",
    "NLL",
    "Ratio",
    "p",
    CONTROL,
    CHANGE,
    PAPER,
    DIFFERENCE,
)


def corruption(study: pd.DataFrame, scoring: Scoring) -> Table:
    """How far predictions move, and the effect on RMSE or NLL, a row for each selection."""
    selections = CorruptionOptions.of(study).selections
    tidy = effects_of(study, selections)
    sections = []
    for is_regression, part in tidy.groupby(tidy["task"] == "regression"):
        columns = _columns(part, selections)
        notes = (*NOTES, *failure_notes(part.drop_duplicates(MODEL)))
        section = Section(TITLES[bool(is_regression)], columns, notes)
        sections.append(section.without_empty(*OPTIONAL))
    return Table(tidy, tuple(sections))


def with_changes(study: pd.DataFrame, selection: Selection = EVERYTHING) -> pd.DataFrame:
    """A study with columns of the effect of a selection.

    `clean` is RMSE or NLL. `change` is the difference of the accuracies in points, or minus the
    increase of RMSE in percent, as in the paper. `effect` is that of `workflow.studies.errors`,
    `control` that of the identity permutation. `movement` is in standard deviations of the train
    targets, or a total variation distance.
    """
    is_regression = (study["task"] == "regression").to_numpy()
    performances = []
    for state in ("clean", selection.name):
        accuracy = 100 * _fact(study, f"{state}_accuracy")
        performances.append(np.where(is_regression, _fact(study, f"{state}_rmse"), accuracy))
    shifts = _fact(study, f"{selection.name}_shift")
    scale = _fact(study, "target_deviation")
    return study.assign(
        clean=np.where(is_regression, performances[0], _fact(study, "clean_nll")),
        change=change(performances[0], performances[1], is_regression),
        effect=effect(losses(study, "clean_"), losses(study, f"{selection.name}_")),
        control=losses(study, "control_") - losses(study, "control_clean_"),
        movement=np.where(is_regression, shifts / scale, shifts),
    )


def _fact(study: pd.DataFrame, name: str) -> np.ndarray:
    """A column of numbers; NaN where the rows lack it."""
    return with_columns(study, [name])[name].astype(float).to_numpy()


def effects_of(study: pd.DataFrame, selections: Sequence[Selection]) -> pd.DataFrame:
    """A row for each model and selection: its effects, with the test over folds."""
    effects = []
    for model in by_model(study):
        seeds = of_model(study, model.facts())
        for selection in selections:
            effects.append(_row(seeds, selection))
    return pd.DataFrame(effects)


def _row(seeds: pd.DataFrame, selection: Selection) -> dict[str, Any]:
    """Facts of a model from its rows of all folds and seeds."""
    (model,) = by_model(with_changes(seeds, selection))
    rows = model.rows
    low, high = np.nan, np.nan
    if not model.reason:
        low, high = _interval(seeds, selection)
    p_value, _ = fold_test(rows["effect"], fraction_tested(rows))
    mean, error = rows["change"].mean(), standard_error(rows["change"])
    paper = published_change(model) if selection == EVERYTHING else np.nan
    return {
        **model.facts(),
        "permuted_columns": selection.columns,
        "permuted_rows": selection.rows,
        "movement": rows["movement"].mean(),
        "clean": rows["clean"].mean(),
        "effect": rows["effect"].mean(),
        "largest_effect": rows["effect"].abs().max(),
        "worse_folds": (rows["effect"] > 0).sum(),
        "p_value": p_value,
        "control": rows["control"].abs().max(),
        "low": low,
        "high": high,
        "change": mean,
        "standard_error": error,
        "published": paper,
        "standard_errors": in_standard_errors(mean, error, paper, np.nan),
    }


def _interval(seeds: pd.DataFrame, selection: Selection) -> tuple[float, float]:
    """Bootstrap interval of the mean effect on RMSE, or the mean change of accuracy in points.

    NaN where a fold has no bootstrap samples.

    Samples are averaged over the seeds of a fold, which have the same rows, and then over folds,
    which have other rows.
    """
    column = f"{selection.name}_bootstrap"
    samples = with_columns(seeds, [column])[column]
    if samples.isna().any():
        return np.nan, np.nan
    changes = [json.loads(sample)["changes"] for sample in samples]
    by_row = pd.DataFrame(changes, index=seeds["fold"], dtype=float)
    if by_row.isna().to_numpy().any():
        return np.nan, np.nan
    if seeds["task"].iloc[0] == "regression":
        by_row = (-by_row / 100).apply(np.log1p)
    means = by_row.groupby(level=0).mean().mean()
    low, high = means.quantile([LEVEL / 2, 1 - LEVEL / 2])
    return low, high


def _columns(part: pd.DataFrame, selections: Sequence[Selection]) -> dict[str, list[Cell]]:
    task = part["task"].iloc[0]
    is_regression = task == "regression"
    columns = model_columns(part)
    if list(selections) != [EVERYTHING]:
        columns["Columns"] = texts(part["permuted_columns"])
        columns["Rows"] = texts(part["permuted_rows"])
    rows = part.to_dict("records")
    worse = []
    for row in rows:
        count = text(f"{row['worse_folds']} of {row['folds']}")
        worse.append(MISSING if np.isnan(row["effect"]) else count)
    in_paper = part.assign(change=part["change"].where(part["published"].notna()))
    return {
        **columns,
        MOVEMENT: numbers(part["movement"], 3),
        "Clean RMSE" if is_regression else "Clean NLL": numbers(
            part["clean"], 2 if is_regression else 3
        ),
        "Ratio" if is_regression else "NLL": [effect_cell(row["effect"], task) for row in rows],
        "Worse folds": worse,
        "p": [p_value(row["p_value"]) for row in rows],
        CONTROL: [scientific(value, 1) for value in part["control"]],
        CHANGE: with_errors(in_paper, "change", 1, sign=True),
        PAPER: numbers(part["published"], 0 if is_regression else 1, sign=True),
        DIFFERENCE: difference_cells(part),
    }
