"""Effect on test performance when other rows are corrupted (paper Table 2)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from workflow.presentation.cells import (
    DASH,
    Cell,
    counted,
    numbers,
    p_value,
    scientific,
    text,
    texts,
    with_errors,
)
from workflow.presentation.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    difference_cells,
    in_standard_errors,
    paper_name,
    published,
    whole_methods,
)
from workflow.presentation.sections import Section, Table, View, failure_notes, model_columns
from workflow.presentation.statistics import (
    LEVEL,
    MODEL,
    ModelRows,
    by_model,
    complete,
    fold_test,
    fraction_tested,
    standard_error,
)
from workflow.results.row import LINEAR
from workflow.studies.corruption import EVERYTHING, CorruptionOptions, Selection
from workflow.studies.errors import (
    effect,
    effect_cell,
    effects_answer,
    effects_over_datasets,
    errors,
    float_columns,
    losses,
)

MOVEMENT = "Predictions move"
CHANGE = "Change, %"
PAPER = "As in the paper's Table 2"
OF_ROWS = {"all": "", "features": "features of ", "target": "labels of "}
NOTES = (
    "Each column of the other rows is permuted by its own permutation: all columns of all rows, "
    "or the named ones, with all other cells intact. The other rows are train rows; the exact "
    "NPT's are its batch. With an encoder, the features of other images' encodings are permuted, "
    "not their pixels. Corrupted scores are means over the permutations.",
    f"`{MOVEMENT}`: the root mean square of the differences, in standard deviations of the train "
    "targets; of classes, the mean total variation distance of the probabilities.",
    "`Ratio`: the geometric mean over folds of corrupted over clean RMSE.",
    "`NLL`: the mean increase of the negative log-likelihood, in nats per row.",
    "`p`: of the corrected resampled t-test (Nadeau and Bengio 2003) over at least three folds, of "
    "the logarithm of the ratio or of the NLL. What it does not detect is not excluded.",
    f"`{CHANGE}`: of the RMSE with its sign, or of the accuracy in points; negative is worse.",
    f"`{PAPER}`: of NPTs at full size, on the small datasets of the variants that mask targets.",
    f"`{DIFFERENCE}`: {DIFFERENCE_NOTE}",
)


def published_change(model: ModelRows) -> float:
    """The paper's change of accuracy in points, or of RMSE in percent with its sign.

    NaN if it prints none for the model.
    """
    table = published()["table_2_corruption"]
    images = published()["appendix_b8_images"]
    name = paper_name(model.dataset)
    variant = table["variant"].get(name)  # of NPT, that the paper probes
    variants = whole_methods(model.encoder)
    if variant is not None and name not in images["cells"]:
        variants = (variant,)
    if model.method != "npt" or model.variant not in variants:
        return np.nan
    changes = table["change_in_accuracy_points"] | table["change_in_rmse_percent_of_rmse"]
    if model.encoder == LINEAR:
        changes |= images["change_in_accuracy_points"]
    elif model.encoder != variant:
        return np.nan
    return float(changes.get(name, np.nan))


def corruption_table(study: pd.DataFrame) -> Table:
    """How far predictions move, and the effect on RMSE or NLL, a row for each selection."""
    selections = CorruptionOptions.from_study(study).selections
    by_selection = [by_model(with_changes(study, selection)) for selection in selections]
    effects = []
    for same_models in zip(*by_selection, strict=True):
        effects += map(_row, same_models, selections)
    tidy = pd.DataFrame(effects)
    first = tidy.drop_duplicates(MODEL)
    rows = _permuted(selections[0].columns, selections[0].rows)
    title = f"What corrupting {rows} costs over all datasets"
    sections = effects_over_datasets(first, title, {"effect": "Effect"})
    for is_regression, part in tidy.groupby(tidy["task"] == "regression"):
        measure = "Ratio" if is_regression else "NLL"
        worse = part["worse_folds"].astype(str) + " of " + part["folds"].astype(str)
        in_paper = part.assign(change=part["change"].where(part["published"].notna()))
        columns = {
            **model_columns(part),
            "Columns": texts(part["permuted_columns"]),
            "Rows": texts(part["permuted_rows"]),
            MOVEMENT: numbers(part["movement"], 3),
            measure: [effect_cell(size, part["task"].iloc[0]) for size in part["effect"]],
            "Worse folds": texts(worse.where(part["effect"].notna(), DASH)),
            "p": [p_value(p) for p in part["p_value"]],
            CHANGE: with_errors(in_paper, "change", 1, sign=True),
            PAPER: numbers(part["published"], 0 if is_regression else 1, sign=True),
            DIFFERENCE: difference_cells(part),
        }
        title = f"{'RMSE' if is_regression else 'Classes'}: what corrupting other rows costs"
        notes = (*NOTES, *failure_notes(part.drop_duplicates(MODEL)))
        section = Section(title, columns, notes).without_empty(*columns)
        if selections == [EVERYTHING]:
            section = section.without(("Columns", "Rows"))
        sections.append(section.without({"Ratio", "NLL"} - {measure}))
    return Table(tidy, tuple(sections))


def with_changes(study: pd.DataFrame, selection: Selection = EVERYTHING) -> pd.DataFrame:
    """A study with columns of the effect of a selection.

    `change` is the difference of the accuracies in points, or minus the increase of RMSE in
    percent, as in the paper. `effect` is that of `workflow.studies.errors`, `control` that of the
    identity permutation. `movement` is in standard deviations of the train targets, or a total
    variation distance.
    """
    name = selection.name
    is_regression = study["task"] == "regression"
    shifts, deviations = float_columns(study, f"{name}_shift", "target_deviation")
    clean = errors(study, "clean_")
    gained = clean - errors(study, f"{name}_")
    return study.assign(
        change=gained.where(~is_regression, 100 * gained / clean.where(clean != 0)),
        effect=effect(losses(study, "clean_"), losses(study, f"{name}_")),
        control=losses(study, "control_") - losses(study, "control_clean_"),
        movement=shifts.where(~is_regression, shifts / deviations),
    )


def _row(model: ModelRows, selection: Selection) -> dict[str, Any]:
    """Facts of a model from its rows with changes."""
    rows = model.rows
    effects = complete(rows["effect"])
    low, high = _interval(model, selection)
    changes = complete(rows["change"])
    mean, error = changes.mean(), standard_error(changes)
    paper = published_change(model) if selection == EVERYTHING else np.nan
    return {
        **model.facts(),
        "permuted_columns": selection.columns,
        "permuted_rows": selection.rows,
        "movement": complete(rows["movement"]).mean(),
        "effect": effects.mean(),
        "largest_effect": effects.abs().max(),
        "worse_folds": (effects > 0).sum(),
        "p_value": fold_test(effects, fraction_tested(rows))[0],
        "control": rows["control"].abs().max(),
        "low": low,
        "high": high,
        "change": mean,
        "standard_error": error,
        "published": paper,
        "standard_errors": in_standard_errors(mean, error, paper, np.nan),
    }


def _interval(model: ModelRows, selection: Selection) -> tuple[float, float]:
    """Bootstrap interval of the mean effect on RMSE, or the mean change of accuracy in points.

    NaN where a fold has no bootstrap samples. Samples are averaged over the seeds of a fold, which
    have the same rows, and then over folds, which have other rows.
    """
    column = f"{selection.name}_bootstrap"
    samples = model.seeds.get(column)
    if samples is None or samples.isna().any():
        return np.nan, np.nan
    changes = [json.loads(sample)["changes"] for sample in samples]
    by_row = pd.DataFrame(np.array(changes, dtype=float), index=model.seeds["fold"])
    if model.task == "regression":
        by_row = (-by_row / 100).apply(np.log1p)
    means = by_row.groupby(level=0).mean().mean().where(by_row.notna().all())
    low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
    return low, high


def answer(tidy: pd.DataFrame) -> str:
    """What the first selection, which is all other rows by default, does to the error."""
    first = tidy.drop_duplicates(MODEL)
    if first.empty:
        return ""
    columns, part = first[["permuted_columns", "permuted_rows"]].iloc[0]
    return effects_answer(first, f"Shuffling {_permuted(columns, part)}")


def _permuted(columns: str, part: str) -> str:
    rows = "the other rows" if part == "all" else f"the other {part} rows"
    return OF_ROWS[columns] + rows


def controls(tidy: pd.DataFrame) -> list[dict[str, Cell]]:
    """What the identity permutation changes, and on how many folds k-NN is worse."""
    rows = []
    models = tidy.drop_duplicates(MODEL)
    identity = models["control"].dropna()
    if len(identity):
        rows.append(
            {
                "Control": text(f"identity permutation, {counted(len(identity), 'model')}"),
                "Expected": text("no effect"),
                "Measured": scientific(identity.max(), 1),
            }
        )
    is_control = (models["method"] == "knn") & (models["permuted_columns"] == "all")
    neighbours = models[is_control & (models["permuted_rows"] != "test") & models["effect"].notna()]
    if len(neighbours):
        worse = f"{neighbours['worse_folds'].sum():.0f} of {neighbours['folds'].sum():.0f}"
        rows.append(
            {
                "Control": text("k-NN, which predicts from other rows alone, shuffled"),
                "Expected": text("worse on all folds"),
                "Measured": text(worse),
            }
        )
    return rows


VIEW = View(tables={"corruption": corruption_table}, answer=answer, controls=controls)
