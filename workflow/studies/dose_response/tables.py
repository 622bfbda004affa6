"""The test error by the share of the other rows that is shuffled, deleted, or left.

A tidy frame of shares has a row for each model, kind of change and share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import metric_decimals, number, text
from workflow.report.sections import Table
from workflow.report.statistics import (
    MODEL,
    by_model,
    of_model,
    standard_error,
    with_columns,
    without_failures,
)
from workflow.studies.context import ContextOptions
from workflow.studies.error_columns import model_cells, probe_table
from workflow.studies.errors import effect, effect_cell, errors, losses

PERTURBED = {"shuffle": "shuffled", "delete": "deleted"}
AT_PREDICTION = "at prediction"
IN_TRAINING = "in training"
NOTE = (
    "Error is RMSE, or the percentage of wrong classes, as the mean over folds. `Constant` is that "
    "of a prediction without features. `Effect` is the geometric mean over folds of the ratio of "
    "RMSEs, perturbed to intact, or the mean increase of the NLL of classes in nats per row. The "
    "other rows are the train rows for k-NN, and all rows of the batch for NPT."
)
CONTEXT_NOTE = (
    "Error is RMSE, or the percentage of wrong classes, as the mean over folds. `At prediction`: a "
    "model that was trained on all train rows has a share of them left. `In training`: the same "
    "settings trained on this share alone, with all validation rows. The rows are the same in "
    "both, and those of a smaller share are among those of a larger one. Baselines search their "
    "hyper-parameters anew on each share. What the first is better by was learned from the rows "
    "that are not there. Methods without stored rows are trained alone."
)
KEYS = [*MODEL, "task", "kind", "share"]
COLUMNS = [*KEYS, "fold", "rows", "error", "loss", "constant"]


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Error with the other rows intact, shuffled and deleted, and the effects."""
    means = _means(dose_folds(study))
    rows = []
    for model in by_model(study):
        cells = model_cells(model.facts())
        rows.append(cells)
        part = of_model(means, model.facts())
        if part.empty:
            continue
        digits = 2 if model.task == "regression" else 1
        cells["Error"] = number(part["error"].iloc[0], digits)
        cells["Constant"] = number(part["constant"].iloc[0], digits)
        for kind, perturbed in PERTURBED.items():
            largest = part.loc[part["kind"] == kind, "effect"].iloc[-1]
            cells[f"Effect, {perturbed}"] = effect_cell(largest, model.task)
    return probe_table(study, means, "Other rows perturbed", rows, NOTE)


def context(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Errors for each share, a row for each model at prediction and in training."""
    means = contexts(study)
    rows = []
    for _, part in means.groupby([*MODEL, "kind"], sort=False):
        first = part.iloc[0]
        cells = {**model_cells(first), "Share": text(first["kind"])}
        digits = metric_decimals(part["error"].min()) if first["task"] == "regression" else 1
        for share, error in zip(part["share"], part["error"], strict=True):
            cells[f"{100 * share:g} %"] = number(error, digits)
        rows.append(cells)
    return probe_table(study, means, "Test error by the share of train rows", rows, CONTEXT_NOTE)


def dose_folds(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each fold, kind and share; none of a model with a failed fold."""
    frames = []
    study = study.assign(constant=errors(study, "constant_"))
    for row in without_failures(study).to_dict("records"):
        scores = json.loads(row["doses"])
        for kind in PERTURBED:
            frames.append(_probed(row, scores[kind], kind))
    return _by_fold(frames, intact=0.0)


def contexts(study: pd.DataFrame) -> pd.DataFrame:
    """Means over folds for each base model and share, at prediction and in training.

    A model or a share with a failed fold has none.
    """
    frames = []
    study = with_columns(study.assign(constant=errors(study, "constant_")), ["contexts"])
    shares = {BASE: 1.0, **ContextOptions.of(study).trained_shares}
    models = [model for model in by_model(study) if not model.reason and model.variant in shares]
    for base in models:
        if base.variant != BASE:
            continue
        for row in base.seeds.dropna(subset="contexts").to_dict("records"):
            frames.append(_probed(row, json.loads(row["contexts"]), AT_PREDICTION))
        for model in models:
            if (model.dataset, model.method) == (base.dataset, base.method):
                facts = {"variant": BASE, "share": shares[model.variant], "kind": IN_TRAINING}
                trained = model.rows.assign(**facts, rows=model.rows.get("train_rows"))
                frames.append(_scored(trained, "test_"))
    return _means(_by_fold(frames, intact=1.0))


def _probed(row: Mapping[Any, Any], scores: Any, kind: str) -> pd.DataFrame:
    """Shares of a row, from its scores by share."""
    facts = {name: row[name] for name in (*MODEL, "task", "fold", "constant")}
    return _scored(pd.DataFrame(scores).assign(**facts, kind=kind))


def _scored(rows: pd.DataFrame, prefix: str = "") -> pd.DataFrame:
    """Shares with their errors and losses."""
    scored = rows.assign(error=errors(rows, prefix), loss=losses(rows, prefix))
    return scored.reindex(columns=COLUMNS)


def _by_fold(frames: list[pd.DataFrame], intact: float) -> pd.DataFrame:
    """Means over seeds, with `effect`: the difference from the loss at the share `intact`."""
    shares = pd.concat(frames or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)
    folds = shares.groupby([*KEYS, "fold"], sort=False).mean().reset_index()
    keys = [folds[name] for name in (*KEYS[:-1], "fold")]
    before = folds["loss"].where(folds["share"] == intact).groupby(keys).transform("first")
    return folds.assign(effect=effect(before, folds["loss"]))


def _means(folds: pd.DataFrame) -> pd.DataFrame:
    """Means over folds for each model, kind and share.

    `constant` is the error of a constant prediction, `rows` the mean number of rows.
    """
    means = folds.groupby(KEYS, sort=False).agg(
        rows=("rows", "mean"),
        error=("error", "mean"),
        standard_error=("error", standard_error),
        effect=("effect", "mean"),
        constant=("constant", "mean"),
        folds=("error", "size"),
    )
    return means.reset_index()
