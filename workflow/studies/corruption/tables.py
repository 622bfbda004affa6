"""Change of test performance when other rows are corrupted (paper Table 2)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, interval
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    difference_cells,
    in_standard_errors,
)
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import (
    INTERVAL,
    LEVEL,
    MODEL,
    ModelRows,
    by_model,
    of_model,
    standard_error,
    with_columns,
)
from workflow.results.row import LINEAR
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import SAMPLES, change, increase
from workflow.studies.corruption.paper import published_change
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.error_columns import model_columns, numbers, texts, with_errors

NOTE = (
    "Every column of all other rows is permuted, each by its own permutation. The control is the "
    "same procedure with the identity permutation, for up to 20 rows of a fold."
)
SELECTION_NOTE = (
    "The named columns of the named rows are permuted, each by its own permutation. All other "
    "cells are intact. The rows of a baseline are its train rows. The control is the same "
    "procedure with the identity permutation, for up to 20 rows of a fold."
)
ENCODINGS_NOTE = (
    "With an encoder ({}), the features of other images' encodings are permuted, not their pixels."
)
MOVEMENT = "Predictions move, %"
MOVEMENT_NOTES = {
    True: "`Predictions move` is the root mean square of the differences, in percent of the RMSE "
    "with the other rows intact.",
    False: "`Predictions move` is the mean total variation distance of the class probabilities, "
    "`flipped` the share of rows whose most probable class changes.",
}
FLIPPED = "Flipped, %"
NLLS = ("Clean NLL", "Corrupted NLL")
PAPER = "As in the paper's Table 2"
PAPER_NOTE = (
    "The paper's numbers are of NPTs at full size, on the small datasets of the variants that mask "
    "targets. In its Table 2, a rise of RMSE is negative."
)
INTERVAL_NOTE = (
    f"The interval is a paired bootstrap with {SAMPLES:,} samples of the probed rows, drawn "
    "within each fold. It shows the uncertainty from the choice of test rows for these trained "
    "models, and not that of another training."
)
DEVIATION = "Over permutations"
DEVIATION_NOTE = (
    "Corrupted scores are means over {} permutations for each row. `Over permutations` is the "
    "standard deviation of a fold's change over them, pooled over folds."
)
ACCURACY_TITLE = "Change of accuracy when {} other rows are corrupted, in points (− is worse)"
RMSE_TITLE = "Increase of RMSE when {} other rows are corrupted, in percent (+ is worse)"


OPTIONAL = (
    MOVEMENT,
    FLIPPED,
    *NLLS,
    INTERVAL,
    DEVIATION,
    PAPER,
    DIFFERENCE,
)


def corruption(study: pd.DataFrame, scoring: Scoring) -> Table:
    """How far predictions move, and the change of accuracy or RMSE (paper Table 2).

    There is a row for each selection.
    """
    options = CorruptionOptions.of(study)
    tidy = _tidy(study, options)
    quantifier = "all" if options.selections == [EVERYTHING] else "the"
    is_regression = tidy["task"] == "regression"
    sections = []
    for title, part in ((ACCURACY_TITLE, tidy[~is_regression]), (RMSE_TITLE, tidy[is_regression])):
        if len(part):
            columns = _columns(part, options)
            section = Section(
                title.format(quantifier),
                columns,
                _section_notes(part),
            )
            optional = [name for name in OPTIONAL if name in columns]
            sections.append(section.without_empty(*optional))
    encoders = {model.encoder for model in by_model(study)} - {LINEAR}
    return Table(tidy, with_notes(sections, *_notes(tidy, options, sorted(encoders))))


def with_changes(study: pd.DataFrame, selection: Selection = EVERYTHING) -> pd.DataFrame:
    """A study with columns of the effect of a selection.

    `clean` and `corrupted` are accuracy in percent, or RMSE. `change` is the difference of the
    accuracies in points, or the increase of RMSE in percent. `control` is the change with the
    identity permutation. `deviation` is the standard deviation of `change` over permutations.
    `movement` is in percent of the clean RMSE, or of the largest total variation distance.
    `flipped` is the percentage of rows whose class changes.
    """
    clean = _performance(study, "clean")
    corrupted = _performance(study, selection.name)
    deviation = _performance(study, selection.name, "_deviation")
    before = _performance(study, "control_clean")
    after = _performance(study, "control")
    is_regression = (study["task"] == "regression").to_numpy()
    shifts = _fact(study, f"{selection.name}_shift")
    return study.assign(
        clean=clean,
        corrupted=corrupted,
        change=increase(change(clean, corrupted, is_regression), is_regression),
        control=increase(change(before, after, is_regression), is_regression),
        deviation=np.abs(change(clean, clean + deviation, is_regression)),
        movement=100 * np.where(is_regression, shifts / clean, shifts),
        flipped=100 * _fact(study, f"{selection.name}_flipped"),
        clean_nll=_fact(study, "clean_nll"),
        corrupted_nll=_fact(study, f"{selection.name}_nll"),
    )


def _fact(study: pd.DataFrame, name: str) -> np.ndarray:
    """A column of numbers; NaN where the rows lack it."""
    column = with_columns(study, [name])[name]
    return column.astype(float).to_numpy()


def _performance(study: pd.DataFrame, state: str, suffix: str = "") -> np.ndarray:
    """Accuracy in percent, or RMSE."""
    names = [f"{state}_{metric}{suffix}" for metric in ("accuracy", "rmse")]
    columns = with_columns(study, names)[names].astype(float)
    accuracy, rmse = columns.to_numpy().T
    return np.where(study["task"] == "regression", rmse, 100 * accuracy)


def _tidy(study: pd.DataFrame, options: CorruptionOptions) -> pd.DataFrame:
    """A row for each model and selection."""
    models = []
    for selection in options.selections:
        changes = with_changes(study, selection)
        rows = []
        for model in by_model(changes):
            rows.append(_row(model, selection, of_model(changes, model.facts())))
        models.append(rows)
    tidy = [row for of_one_model in zip(*models, strict=True) for row in of_one_model]
    return pd.DataFrame(tidy)


def _row(model: ModelRows, selection: Selection, seeds: pd.DataFrame) -> dict[str, Any]:
    """Facts of a model; `seeds` are its rows before they are averaged over seeds."""
    rows = model.rows
    is_regression = model.task == "regression"
    mean = rows["change"].mean()
    error = standard_error(rows["change"])
    low, high = (np.nan, np.nan)
    if not model.reason:
        low, high = _interval(seeds, selection, is_regression)
    paper = published_change(model) if selection == EVERYTHING else np.nan
    expected = float(increase(np.array(paper), is_regression))
    return {
        **model.facts(),
        "measure": "increase of RMSE, percent" if is_regression else "change of accuracy, points",
        "permuted_columns": selection.columns,
        "permuted_rows": selection.rows,
        "clean": rows["clean"].mean(),
        "corrupted": rows["corrupted"].mean(),
        "clean_nll": rows["clean_nll"].mean(),
        "corrupted_nll": rows["corrupted_nll"].mean(),
        "movement": rows["movement"].mean(),
        "flipped": rows["flipped"].mean(),
        "change": mean,
        "control": rows["control"].mean(),
        "standard_error": error,
        "low": low,
        "high": high,
        "deviation": np.sqrt((rows["deviation"] ** 2).mean()),
        "published": paper,
        "test_fraction": _test_fraction(rows),
        "standard_errors": in_standard_errors(
            mean,
            error,
            expected,
            np.nan,
        ),
    }


def _test_fraction(rows: pd.DataFrame) -> float:
    """Test rows over train rows of a fold; 0 where older rows do not say."""
    names = ["test_rows", "train_rows"]
    sizes = with_columns(rows, names)[names].astype(float)
    fractions = sizes["test_rows"] / sizes["train_rows"]
    if fractions.isna().all():
        return 0.0
    return float(fractions.mean())


def _interval(
    seeds: pd.DataFrame,
    selection: Selection,
    is_regression: bool,
) -> tuple[float, float]:
    """Bootstrap interval of the mean change; NaN where a fold has no bootstrap samples.

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
    means = by_row.groupby(level=0).mean().mean()
    samples_of_mean = pd.Series(increase(means.to_numpy(), is_regression))
    low, high = samples_of_mean.quantile([LEVEL / 2, 1 - LEVEL / 2])
    return low, high


def _columns(part: pd.DataFrame, options: CorruptionOptions) -> dict[str, list[Cell]]:
    is_regression = part["task"].iloc[0] == "regression"
    quantity, digits, paper_digits = ("RMSE", 2, 0) if is_regression else ("accuracy, %", 1, 1)
    selections: dict[str, list[Cell]] = {}
    likelihoods: dict[str, list[Cell]] = {}
    if not is_regression:
        likelihoods[FLIPPED] = numbers(part["flipped"], 1)
        for title, column in zip(NLLS, ("clean_nll", "corrupted_nll"), strict=True):
            likelihoods[title] = numbers(part[column], 3)
    if options.selections != [EVERYTHING]:
        selections["Columns"] = texts(part["permuted_columns"])
        selections["Rows"] = texts(part["permuted_rows"])
    ends = zip(part["low"], part["high"], strict=True)
    return {
        **model_columns(part),
        **selections,
        MOVEMENT: numbers(part["movement"], 1),
        **likelihoods,
        f"Clean {quantity}": numbers(part["clean"], digits),
        f"Corrupted {quantity}": numbers(part["corrupted"], digits),
        "Change": with_errors(part, "change", 1, sign=True),
        INTERVAL: [interval(low, high, 1) for low, high in ends],
        DEVIATION: numbers(part["deviation"], 1),
        "Control": numbers(part["control"], 1, sign=True),
        PAPER: numbers(part["published"], paper_digits, sign=True),
        DIFFERENCE: difference_cells(part),
    }


def _section_notes(part: pd.DataFrame) -> tuple[str, ...]:
    """What moves, if it was measured, and notes of the models, once for all selections."""
    reasons = failure_notes(part.drop_duplicates(MODEL))
    if part["movement"].isna().all():
        return reasons
    is_regression = part["task"].iloc[0] == "regression"
    return (MOVEMENT_NOTES[is_regression], *reasons)


def _notes(
    tidy: pd.DataFrame,
    options: CorruptionOptions,
    encoders: list[str],
) -> list[str]:
    notes = [NOTE if options.selections == [EVERYTHING] else SELECTION_NOTE]
    if encoders:
        notes.append(ENCODINGS_NOTE.format(", ".join(encoders)))
    if tidy["low"].notna().any():
        notes.append(INTERVAL_NOTE)
    if tidy["deviation"].notna().any():
        notes.append(DEVIATION_NOTE.format(options.permutations))
    if tidy["published"].notna().any():
        notes.append(PAPER_NOTE)
    if tidy["standard_errors"].notna().any():
        notes.append(DIFFERENCE_NOTE)
    return notes
