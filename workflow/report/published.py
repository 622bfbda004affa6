"""The paper's printed results (Tables 8 to 11) beside a study's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("published.json")
TABLES = {"accuracy": "table_8_accuracy", "nll": "table_9_nll", "auroc": "table_10_auroc", "rmse": "table_11_rmse"}
SCALES = {"accuracy": 0.01}  # the paper prints percent


@cache
def published() -> Mapping[str, Any]:
    """The paper's Tables 1 and 8 to 11."""
    return json.loads(PATH.read_text())


def published_result(dataset: str, method: str, metric: str) -> tuple[float, float] | None:
    """Mean and standard error (NaN where none is printed) of a method's test metric, in this project's units.

    A dataset with the splits of the released code is the paper's dataset.
    """
    table = published().get(TABLES.get(metric, ""), {"cells": {}})
    cell = table["cells"].get(dataset.removesuffix("_legacy"), {}).get(method)
    if not cell or cell.get("value") is None:
        return None
    scale = SCALES.get(metric, 1.0)
    return scale * cell["value"], scale * cell.get("standard_error", float("nan"))
