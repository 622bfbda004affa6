"""What becomes of a test score when all other rows are corrupted (paper Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.old_published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE,
    marked,
    paper_name,
    published,
    standard_errors,
)
from workflow.report.section import DASH, Section, Tabulated, noted, notes, number, plus_minus
from workflow.report.summary import by_model, dataset_title, method_titles, standard_error

NOTE = (
    "Every column of all other rows is permuted, each by a permutation of its own. The control goes the same way with "
    "nothing permuted, for up to 20 rows of a fold. The paper's figures are of NPTs at full size."
)


def corruption(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Change of test performance when all other rows are corrupted (paper Table 2): points of accuracy, percent of RMSE."""
    study = study.assign(**corruption_changes(study))
    rows = []
    for row, group in by_model(study):
        regression = row["task"] == "regression"
        measured = {
            name: group[name].mean() for name in ("clean", "corrupted", "change", "control")
        }
        rows.append(
            {
                **row,
                "measure": "relative RMSE, percent" if regression else "accuracy, points",
                **measured,
                "standard_error": standard_error(group["change"]),
                "published": _published(row, regression),
            }
        )
        own = (rows[-1]["change"], rows[-1]["standard_error"])
        rows[-1]["standard_errors"] = standard_errors(*own, rows[-1]["published"], np.nan)
    tidy = pd.DataFrame(rows)
    sections = [
        Section(title, _cells(part, quantity, digits), notes(part))
        for regression, title, quantity, digits in (
            (
                False,
                "Change of accuracy when all other rows are corrupted, in points",
                "accuracy, %",
                1,
            ),
            (
                True,
                "Relative change of RMSE when all other rows are corrupted, in percent",
                "RMSE",
                2,
            ),
        )
        if len(part := tidy[(tidy["task"] == "regression") == regression])
    ]
    return Tabulated(tidy, noted(sections, NOTE, *_beside(tidy)))


def corruption_changes(study: pd.DataFrame) -> dict[str, pd.Series]:
    """Clean and corrupted accuracy (percent) or RMSE of every fold, and the change; negative is worse in both.

    `control` is the change, of a few rows, to predictions that go the corrupted ones' way with nothing permuted.
    """
    regression = study["task"] == "regression"
    clean, corrupted, before, after = (
        _column(study, f"{state}_rmse").where(regression, 100 * _column(study, f"{state}_accuracy"))
        for state in ("clean", "corrupted", "control_clean", "control")
    )
    return {"clean": clean, "corrupted": corrupted, "change": _change(clean, corrupted, regression),
            "control": _change(before, after, regression)}  # fmt: skip


def _change(before: pd.Series, after: pd.Series, regression: pd.Series) -> pd.Series:
    return (-100 * (after - before) / before).where(regression, after - before)


def _column(study: pd.DataFrame, name: str) -> pd.Series:
    return study[name] if name in study else pd.Series(np.nan, index=study.index)


def _beside(part: pd.DataFrame) -> tuple[str, ...]:
    return (DIFFERENCE_NOTE,) if part["published"].notna().any() else ()


def _published(row: Mapping[str, Any], regression: bool) -> float:
    table = published()["table_2_corruption"][
        "change_in_rmse_percent_of_rmse" if regression else "change_in_accuracy_points"
    ]
    same = row["method"] == "npt" and row["variant"] in WHOLE
    return float(table.get(paper_name(row["dataset"]), np.nan)) if same else np.nan


def _cells(part: pd.DataFrame, quantity: str, digits: int) -> pd.DataFrame:
    cells = pd.DataFrame(
        {
            "Dataset": part["dataset"].map(dataset_title),
            "Method": method_titles(part),
            f"Clean {quantity}": [number(x, digits) for x in part["clean"]],
            f"Corrupted {quantity}": [number(x, digits) for x in part["corrupted"]],
            "Change": [
                plus_minus(m, e, 1, sign=True)
                for m, e in zip(part["change"], part["standard_error"], strict=True)
            ],
            "Control": [number(x, 1, sign=True) for x in part["control"]],
            "Paper": [
                number(x, 1 if quantity != "RMSE" else 0, sign=True) for x in part["published"]
            ],
            DIFFERENCE: [marked(errors) for errors in part["standard_errors"]],
        }
    )
    return cells if (cells["Paper"] != DASH).any() else cells.drop(columns=["Paper", DIFFERENCE])
