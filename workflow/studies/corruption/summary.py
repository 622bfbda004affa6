"""Results of a corruption study in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted, formatted
from workflow.report.published import FAR
from workflow.report.titles import dataset_title
from workflow.studies.corruption.tables import corruption
from workflow.studies.sentences import NOT_PROBED, per_method


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The change of every NPT."""
    tidy = corruption(study, scoring).tidy
    of_npt = tidy[(tidy["method"] == "npt") & tidy["change"].notna()]
    if of_npt.empty:
        return NOT_PROBED
    changes = []
    for row in of_npt.to_dict("records"):
        name = dataset_title(row["dataset"])
        if row["variant"] != "base":
            name += f" ({row['variant']})"
        unit = "% of RMSE" if row["task"] == "regression" else "points of accuracy"
        changes.append(f"{name} {_with_error(row['change'], row['standard_error'])} {unit}")
    return (
        f"Corrupting all other rows changes the test performance of NPT: {', '.join(changes)}. "
        "Negative is worse. Zero means that permuting the other rows has no effect."
    )


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """On how many datasets each method loses more than two standard errors."""
    tidy = corruption(study, scoring).tidy
    clauses = {}
    tested = tidy[tidy["standard_error"].notna()]
    for names, part in tested.groupby(["method", "variant"], sort=False):
        worse = int((part["change"] < -FAR * part["standard_error"]).sum())
        clauses[names] = f"on {worse} of {counted(len(part), 'dataset')}"
    if not clauses:
        return ""
    return f"Corrupting all other rows costs more than two standard errors: {per_method(clauses)}."


def _with_error(change: float, error: float) -> str:
    shown = formatted(change, 1, sign=True)
    return shown if pd.isna(error) else f"{shown} ± {error:.1f}"
