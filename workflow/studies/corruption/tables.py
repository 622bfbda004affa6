"""Effect on test performance when other rows are corrupted (paper Table 2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, interval, p_value, scientific
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
    INTERVAL,
    LEVEL,
    MODEL,
    ModelRows,
    by_model,
    of_model,
    standard_error,
    with_columns,
)
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import SAMPLES, change, increase
from workflow.studies.corruption.paper import published_change
from workflow.studies.corruption.selection import EVERYTHING, Selection
from workflow.studies.error_columns import model_columns, numbers, texts, with_errors
from workflow.studies.errors import effect, effect_cell, effect_interval, losses

MOVEMENT = "Predictions move"
FLIPPED = "Flipped, %"
ROWS_INTERVAL = f"{INTERVAL} over test rows"
PAPER = "As in the paper's Table 2"
DEVIATION = "Over permutations"
CONTROL = "Control"
NOTES = (
    "Each column of the other rows is permuted by its own permutation: all columns of all rows, or "
    "the named ones, with all other cells intact. The rows of a baseline are its train rows. With "
    "an encoder, the features of other images' encodings are permuted, not their pixels.",
    f"`{MOVEMENT}`: the root mean square of the differences, in standard deviations of the train "
    "targets; of classes, the mean total variation distance of the probabilities.",
    f"`{FLIPPED}`: rows whose most probable class changes.",
    "`Ratio`: the geometric mean over folds of corrupted over clean RMSE.",
    "`NLL`: the mean increase of the negative log-likelihood, in nats per row. A loss of accuracy "
    "is negative.",
    f"`{INTERVAL}` and p are those of the corrected resampled t-test (Nadeau and Bengio 2003) over "
    "folds, of the logarithm of the ratio or of the NLL. What it does not detect is not excluded.",
    f"`{CONTROL}`: the largest effect of the identity permutation on a logarithm of RMSE or an "
    "NLL, for up to 20 rows of a fold.",
    f"`{ROWS_INTERVAL}`: a paired bootstrap with {SAMPLES:,} samples of the probed rows, drawn "
    "within each fold, of the ratio or of the accuracy. It shows the uncertainty from the choice "
    "of test rows for these trained models, and not that of another training.",
    f"`{DEVIATION}`: the standard deviation of a fold's ratio or NLL over its permutations, pooled "
    "over folds. Corrupted scores are means over them.",
    f"`{PAPER}`: of NPTs at full size, on the small datasets of the variants that mask targets. "
    "There, a rise of RMSE is negative.",
    f"`{DIFFERENCE}`: {DIFFERENCE_NOTE}",
)
CLASSES_TITLE = "Classes: what corrupting other rows costs"
RMSE_TITLE = "RMSE: what corrupting other rows costs"
OPTIONAL = (
    MOVEMENT,
    FLIPPED,
    "Clean NLL",
    "NLL",
    "Ratio",
    INTERVAL,
    "p",
    CONTROL,
    ROWS_INTERVAL,
    DEVIATION,
    PAPER,
    DIFFERENCE,
)


def corruption(study: pd.DataFrame, scoring: Scoring) -> Table:
    """How far predictions move, and the effect on RMSE, or on NLL and accuracy (paper Table 2).

    There is a row for each selection.
    """
    options = CorruptionOptions.of(study)
    tidy = effects_of(study, options.selections)
    is_regression = tidy["task"] == "regression"
    sections = []
    for title, part in ((CLASSES_TITLE, tidy[~is_regression]), (RMSE_TITLE, tidy[is_regression])):
        if len(part):
            columns = _columns(part, options)
            section = Section(title, columns, (*NOTES, *_reasons(part)))
            sections.append(section.without_empty(*OPTIONAL))
    return Table(tidy, tuple(sections))


def with_changes(study: pd.DataFrame, selection: Selection = EVERYTHING) -> pd.DataFrame:
    """A study with columns of the effect of a selection.

    `clean` and `corrupted` are accuracy in percent, or RMSE. `change` is the difference of the
    accuracies in points, or the increase of RMSE in percent, as in the paper. `effect` is that of
    `workflow.studies.errors`, `control` that of the identity permutation, and `deviation` the
    standard deviation over permutations of the ratio or NLL. `movement` is in standard deviations
    of the train targets, or a total variation distance. `flipped` is the percentage of rows whose
    class changes.
    """
    clean = _performance(study, "clean")
    corrupted = _performance(study, selection.name)
    is_regression = (study["task"] == "regression").to_numpy()
    shifts = _fact(study, f"{selection.name}_shift")
    rmse_deviation = _fact(study, f"{selection.name}_rmse_deviation")
    nll_deviation = _fact(study, f"{selection.name}_nll_deviation")
    scale = _fact(study, "target_deviation")
    return study.assign(
        clean=clean,
        corrupted=corrupted,
        change=increase(change(clean, corrupted, is_regression), is_regression),
        effect=effect(losses(study, "clean_"), losses(study, f"{selection.name}_")),
        control=losses(study, "control_") - losses(study, "control_clean_"),
        deviation=np.where(is_regression, rmse_deviation / clean, nll_deviation),
        movement=np.where(is_regression, shifts / scale, shifts),
        flipped=100 * _fact(study, f"{selection.name}_flipped"),
        clean_nll=_fact(study, "clean_nll"),
    )


def _fact(study: pd.DataFrame, name: str) -> np.ndarray:
    """A column of numbers; NaN where the rows lack it."""
    column = with_columns(study, [name])[name]
    return column.astype(float).to_numpy()


def _performance(study: pd.DataFrame, state: str) -> np.ndarray:
    """Accuracy in percent, or RMSE."""
    accuracy = _fact(study, f"{state}_accuracy")
    return np.where(study["task"] == "regression", _fact(study, f"{state}_rmse"), 100 * accuracy)


def effects_of(study: pd.DataFrame, selections: Sequence[Selection]) -> pd.DataFrame:
    """A row for each model and selection: its effects, with the test over folds."""
    models = []
    for selection in selections:
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
    fraction = fraction_tested(rows)
    test = fold_test(rows["effect"], fraction)
    paper = published_change(model) if selection == EVERYTHING else np.nan
    expected = float(increase(np.array(paper), is_regression))
    return {
        **model.facts(),
        "permuted_columns": selection.columns,
        "permuted_rows": selection.rows,
        "clean": rows["clean"].mean(),
        "corrupted": rows["corrupted"].mean(),
        "clean_nll": rows["clean_nll"].mean(),
        "movement": rows["movement"].mean(),
        "flipped": rows["flipped"].mean(),
        "effect": test["difference"],
        "largest_effect": rows["effect"].abs().max(),
        "worse_folds": (rows["effect"] > 0).sum(),
        "effect_low": test["low"],
        "effect_high": test["high"],
        "p_value": test["p_value"],
        "untested": test["reason"],
        "control": rows["control"].abs().max(),
        "change": mean,
        "standard_error": error,
        "low": low,
        "high": high,
        "deviation": np.sqrt((rows["deviation"] ** 2).mean()),
        "published": paper,
        "test_fraction": fraction,
        "standard_errors": in_standard_errors(
            mean,
            error,
            expected,
            np.nan,
        ),
    }


def _interval(
    seeds: pd.DataFrame,
    selection: Selection,
    is_regression: bool,
) -> tuple[float, float]:
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
    if is_regression:
        by_row = (-by_row / 100).apply(np.log1p)
    means = by_row.groupby(level=0).mean().mean()
    low, high = means.quantile([LEVEL / 2, 1 - LEVEL / 2])
    return low, high


def _columns(part: pd.DataFrame, options: CorruptionOptions) -> dict[str, list[Cell]]:
    task = part["task"].iloc[0]
    selections: dict[str, list[Cell]] = {}
    if options.selections != [EVERYTHING]:
        selections["Columns"] = texts(part["permuted_columns"])
        selections["Rows"] = texts(part["permuted_rows"])
    rows = part.to_dict("records")
    effects = [effect_cell(row["effect"], task) for row in rows]
    worse = texts(f"{row['worse_folds']} of {row['folds']}" for row in rows)
    tests = {
        "Worse folds": [
            MISSING if effect.is_missing else cell
            for effect, cell in zip(effects, worse, strict=True)
        ],
        INTERVAL: [effect_interval(row["effect_low"], row["effect_high"], task) for row in rows],
        "p": [p_value(row["p_value"]) for row in rows],
        CONTROL: [scientific(value, 1) for value in part["control"]],
    }
    if task == "regression":
        measures = {
            "Clean RMSE": numbers(part["clean"], 2),
            "Corrupted RMSE": numbers(part["corrupted"], 2),
            "Ratio": effects,
            **tests,
            ROWS_INTERVAL: [effect_interval(row["low"], row["high"], task) for row in rows],
        }
        if part["published"].notna().any():
            measures["Increase, %"] = with_errors(part, "change", 1, sign=True)
    else:
        measures = {
            FLIPPED: numbers(part["flipped"], 1),
            "Clean NLL": numbers(part["clean_nll"], 3),
            "NLL": effects,
            **tests,
            "Clean accuracy, %": numbers(part["clean"], 1),
            "Change, points": with_errors(part, "change", 1, sign=True),
            ROWS_INTERVAL: [interval(row["low"], row["high"], 1) for row in rows],
        }
    return {
        **model_columns(part),
        **selections,
        MOVEMENT: numbers(part["movement"], 3),
        **measures,
        DEVIATION: numbers(part["deviation"], 2),
        PAPER: numbers(part["published"], 0 if task == "regression" else 1, sign=True),
        DIFFERENCE: difference_cells(part),
    }


def _reasons(part: pd.DataFrame) -> tuple[str, ...]:
    """Why models are missing or untested."""
    models = part.drop_duplicates(MODEL)
    untested = models["untested"].where(models["effect"].notna(), "")
    return failure_notes(models.assign(reason=models["reason"].where(untested == "", untested)))
