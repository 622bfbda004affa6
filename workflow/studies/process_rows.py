"""Rows of studies of processes, which are shown by training rather than by fold."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workflow.report.statistics import MODEL


def finished_rows(study: pd.DataFrame, column: str) -> list[dict[Any, Any]]:
    """Rows with a fact of the probe, of the models of which no training failed."""
    if column not in study:
        return []
    rows: list[dict[Any, Any]] = []
    for _, model in study.groupby(MODEL, sort=False):
        if "failed" in set(model["status"]):
            continue
        is_finished = model["status"] == "ok"
        rows += model[is_finished].to_dict("records")
    return rows
