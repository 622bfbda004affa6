"""How the test error grows with the share of perturbed rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.perturbation import KINDS
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, counted, number, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    MODEL,
    by_model,
    of_model,
    standard_error,
    without_failures,
)
from workflow.report.titles import dataset_title, method_title
from workflow.studies.error_columns import columns_of
from workflow.studies.errors import effect, effect_cell, error_of, losses

NOTE = (
    "Error is RMSE, or the percentage of wrong classes, as the mean over folds. `Constant` is that "
    "of a prediction without features. `Effect` is the geometric mean over folds of the ratio of "
    "RMSEs, perturbed to intact, or the mean increase of the NLL of classes in nats per row. The "
    "other rows are the train rows for k-NN, and all rows of the batch for NPT."
)
PERTURBED = {"shuffle": "shuffled", "delete": "deleted"}
DOSE = [*MODEL, "task", "kind", "share"]


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Error with the other rows intact, shuffled and deleted, and the effects."""
    means = doses(study)
    models = pd.DataFrame([model.facts() for model in by_model(study)])
    rows = []
    for facts in models.to_dict("records"):
        part = of_model(means, facts)
        rows.append(_cells(facts, part))
    folds_by_dataset = study.groupby("dataset")["fold"].nunique()
    folds = int(folds_by_dataset.max())
    title = f"Other rows perturbed: {counted(folds, 'fold')}"
    notes = (NOTE, *failure_notes(models))
    section = Section(title, columns_of(rows), notes)
    failed = models[models["reason"] != ""]
    failed = failed.assign(kind="", share=np.nan)
    tidy = means.assign(reason="")
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    return Table(tidy, (section,))


def doses(study: pd.DataFrame) -> pd.DataFrame:
    """Mean error over folds, with its standard error, for each model, kind and share.

    `effect` is the mean difference from the loss at share 0. `constant` is the error of a constant
    prediction. Models with a failed fold have no rows.
    """
    rows: list[dict[str, Any]] = []
    for row in without_failures(study).to_dict("records"):
        rows += _errors(row)
    frame = pd.DataFrame(rows, columns=[*DOSE, "fold", "error", "effect", "constant"])
    folds = frame.groupby([*DOSE, "fold"], sort=False).mean().reset_index()
    means = folds.groupby(DOSE, sort=False).agg(
        error=("error", "mean"),
        standard_error=("error", standard_error),
        effect=("effect", "mean"),
        constant=("constant", "mean"),
        folds=("error", "size"),
    )
    return means.reset_index()


def _errors(row: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Errors of a fold for every kind and share."""
    facts = {name: row[name] for name in (*MODEL, "task", "fold")}
    facts["constant"] = error_of(row, row["task"], prefix="constant_")
    results = json.loads(row["doses"])
    rows = []
    for kind in KINDS:
        doses = pd.DataFrame(results[kind]).assign(task=row["task"])
        loss = losses(doses, "")
        effects = effect(pd.Series(loss.iloc[0], loss.index), loss)
        for dose, size in zip(doses.to_dict("records"), effects, strict=True):
            cell = {
                **facts,
                "kind": kind,
                "share": dose["share"],
                "error": error_of(dose, row["task"]),
                "effect": size,
            }
            rows.append(cell)
    return rows


def _cells(row: Mapping[Any, Any], part: pd.DataFrame) -> dict[str, Cell]:
    """Cells of a model; only its name if a fold failed."""
    cells = {
        "Dataset": text(dataset_title(row["dataset"])),
        "Method": text(method_title(row["method"], row["variant"])),
    }
    if part.empty:
        return cells
    digits = 2 if row["task"] == "regression" else 1
    cells["Error"] = number(part["error"].iloc[0], digits)
    cells["Constant"] = number(part["constant"].iloc[0], digits)
    for kind, perturbed in PERTURBED.items():
        worst = part[part["kind"] == kind].iloc[-1]
        percentage = f"{100 * worst['share']:.0f} %"
        cells[f"{percentage} {perturbed}"] = number(worst["error"], digits)
        cells[f"Effect, {perturbed}"] = effect_cell(worst["effect"], row["task"])
    return cells
