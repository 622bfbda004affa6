"""How a test error grows with the share of other rows that are spoilt, and how much of a model's skill comes from them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from npt.perturbation import KINDS
from workflow.config.scoring import Scoring
from workflow.report.section import DASH, Section, Tabulated, counted, notes, number
from workflow.report.summary import (
    MODEL,
    by_model,
    dataset_title,
    method_title,
    of_model,
    standard_error,
    without_failures,
)

NOTE = (
    "Error is RMSE, or the share of wrong classes in percent; means over folds. `Lost` is the share of a model's skill that "
    "goes when other rows are spoilt: its gain over a constant prediction with the rows intact is 100 %. 0 % is a model that "
    "knows all from the row itself, 100 % one that knows no more than the constant without the others, and beyond it is worse "
    "than the constant. Of k-NN the others are its train rows, of NPT all rows of the batch."
)


def doses(study: pd.DataFrame) -> pd.DataFrame:
    """One row for each dataset, method, variant, kind and share: mean error over folds, its standard error, the constant's.

    A model with a failed fold has none.
    """
    lines = []
    for row in without_failures(study).to_dict("records"):
        found, regression = json.loads(row["doses"]), row["task"] == "regression"
        for kind in KINDS:
            for share, error in zip(
                found[kind]["share"], _errors(found[kind], regression), strict=True
            ):
                constant = (
                    row["constant_rmse"] if regression else 100 * (1 - row["constant_accuracy"])
                )
                lines.append({**{key: row[key] for key in (*MODEL, "task")}, "kind": kind, "share": share, "error": error,
                              "constant": constant})  # fmt: skip
    columns = [*MODEL, "task", "kind", "share", "error", "constant"]
    frame = pd.DataFrame(lines, columns=columns)
    groups = frame.groupby([*MODEL, "task", "kind", "share"], sort=False)
    named = {"error": ("error", "mean"), "standard_error": ("error", standard_error), "constant": ("constant", "mean"),
             "folds": ("error", "size")}  # fmt: skip
    return groups.agg(**named).reset_index()


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Error with the other rows intact, all shuffled, and most deleted, and the share of skill that comes from them."""
    every, cells, reasons = doses(study), [], []
    for row, group in by_model(study):
        line = {
            "Dataset": dataset_title(row["dataset"]),
            "Method": method_title(row["method"], row["variant"]),
        }
        part = of_model(every, row)
        reasons.append({**row, "kind": "", "share": np.nan})
        cells.append({**line, **_cells(part, row["task"])} if len(group) else line)
    failed = pd.DataFrame([row for row in reasons if row["reason"]], columns=list(reasons[0]))
    tidy = (
        pd.concat([every.assign(reason=""), failed], ignore_index=True)
        if len(failed)
        else every.assign(reason="")
    )
    folds = counted(int(study.groupby("dataset")["fold"].nunique().max()), "fold")
    shown = pd.DataFrame(cells).fillna(DASH)
    return Tabulated(
        tidy,
        (Section(f"Other rows spoilt: {folds}", shown, (NOTE, *notes(pd.DataFrame(reasons)))),),
    )


def _cells(part: pd.DataFrame, task: str) -> dict[str, str]:
    whole, constant = part["error"].iloc[0], part["constant"].iloc[0]
    digits = 2 if task == "regression" else 1
    line = {"Error": number(whole, digits), "Constant": number(constant, digits)}
    for kind, doing in (("shuffle", "shuffled"), ("delete", "deleted")):
        worst, lost = part[part["kind"] == kind].iloc[-1], _lost(part, kind)
        line[f"{100 * worst['share']:.0f} % {doing}"] = number(worst["error"], digits)
        line[f"Lost, {doing}"] = DASH if np.isnan(lost) else f"{number(100 * lost, 0)} %"
    return line


def skill_from_others(study: pd.DataFrame, kind: str) -> pd.DataFrame:
    """For each dataset, method and variant the share of skill (`share`) that is lost at the largest dose; NaN without skill."""
    groups = doses(study).groupby(MODEL, sort=False)
    lines = [
        {**dict(zip(MODEL, names, strict=True)), "share": _lost(part, kind)}
        for names, part in groups
    ]
    return pd.DataFrame(lines, columns=[*MODEL, "share"])


def _lost(part: pd.DataFrame, kind: str) -> float:
    """The share of a model's skill that is lost at the largest dose, of its `doses`; NaN without skill."""
    whole, skill = part["error"].iloc[0], part["constant"].iloc[0] - part["error"].iloc[0]
    return (
        float((part[part["kind"] == kind]["error"].iloc[-1] - whole) / skill)
        if skill > 0
        else np.nan
    )


def _errors(found: dict[str, list[float]], regression: bool) -> list[float]:
    return found["rmse"] if regression else [100 * (1 - accuracy) for accuracy in found["accuracy"]]
