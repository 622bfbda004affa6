"""The paper's printed numbers, and differences from them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data.datasets import datasets
from npt.metrics import METRICS
from workflow.config.scoring import Ranking
from workflow.presentation.cells import Cell, emphasised, number
from workflow.presentation.ranks import mean_ranks, rank_methods
from workflow.presentation.statistics import MODEL, t_quantile
from workflow.results.row import LINEAR

PATH = Path(__file__).with_name("published.json")
TABLES = {
    "accuracy": ("table_8_accuracy", "appendix_b8_images"),
    "nll": ("table_9_nll",),
    "auroc": ("table_10_auroc",),
    "rmse": ("table_11_rmse",),
    "mse": ("table_12_mse",),
}
PRINTED = re.compile(r"(\d[\d.]*)(?:±([\d.]+))?")  # a mean, and its error
SCALES = {"accuracy": 0.01}  # the paper prints percent
FOLDS = 10  # of the paper's standard deviations
WHOLE_METHODS = ("base", "tuned")  # variants that are a method as the paper has it
DIFFERENCE = "Difference, standard errors"
DIFFERENCE_NOTE = (
    "The difference is in standard errors of the difference, from the paper's error and the one "
    "here. Where the paper prints no error, the one here is used alone. Bold: beyond the 5 % level "
    "of Student's t over the folds here (4.3 with three, 2.3 with ten)."
)


@cache
def published() -> Mapping[str, Any]:
    """The paper's printed numbers: each cell with its text, value and error."""
    return _with_numbers(json.loads(PATH.read_text(encoding="utf-8")), "standard_error")


def _with_numbers(node: Any, error: str) -> Any:
    """A part of the file with cells for printed numbers; `error` is the name of theirs."""
    if isinstance(node, dict) and "printed" not in node:
        if "deviation" in node.get("uncertainty", ""):  # Table 12
            error = "standard_deviation"
        return {name: _with_numbers(inner, error) for name, inner in node.items()}
    match = PRINTED.fullmatch(node) if isinstance(node, str) else None
    if match is None:
        return node
    cell = {"printed": node, "value": float(match[1])}
    if match[2]:
        cell[error] = float(match[2])
        cell.setdefault("standard_error", cell[error] / math.sqrt(FOLDS))
    return cell


def paper_name(dataset: str) -> str:
    """The paper's name of a dataset, whichever its splits; empty for one that is not declared."""
    return dataset.removesuffix("_legacy") if dataset in datasets() else ""


def is_protein(dataset: str) -> bool:
    """Whether a dataset is Protein, a sample of it, or has other splits of it."""
    return dataset in datasets() and dataset.partition("_")[0] == "protein"


def whole_methods(encoder: str) -> tuple[str, ...]:
    """Variants that are a method as the paper has it; one may have the name of its encoder."""
    return WHOLE_METHODS if encoder == LINEAR else (*WHOLE_METHODS, encoder)


def published_cells(metric: str, encoder: str = LINEAR) -> Mapping[str, Any]:
    """The paper's results of a metric by dataset and method; empty if it prints none."""
    if encoder != LINEAR:
        images = published()["appendix_b8_images"].get(encoder, {})
        return images.get("cells", {}) if metric == "accuracy" else {}
    cells = {}
    for table in TABLES.get(metric, ()):
        cells.update(published()[table]["cells"])
    return cells


def scaled(cell: Mapping[str, Any], metric: str) -> tuple[float, float]:
    """Mean and standard error (NaN if none is printed) of a cell, in the project's units."""
    scale = SCALES.get(metric, 1.0)
    return scale * cell["value"], scale * cell.get("standard_error", np.nan)


def published_result(
    dataset: str, method: str, metric: str, encoder: str = LINEAR
) -> tuple[float, float] | None:
    """Mean and standard error (NaN if none is printed) of a method's test metric.

    Args:
        encoder: That of NPT, of images.
    """
    cells = published_cells(metric, encoder).get(paper_name(dataset), {})
    cell = cells.get(method)
    if not cell or cell.get("value") is None:
        return None
    return scaled(cell, metric)


def published_summary(
    metric: str, names: Iterable[str], methods: Sequence[str]
) -> pd.DataFrame | None:
    """The paper's means of methods on datasets, in the form that `rank_methods` takes.

    None if the paper lacks one of them; a cell without a value has a reason.
    """
    rows = []
    for dataset in names:
        cells = published_cells(metric).get(paper_name(dataset), {})
        for method in methods:
            if method not in cells:
                return None
            cell = cells[method]
            rows.append([dataset, method, "base", cell["value"], cell.get("reason", "")])
    summary = pd.DataFrame(rows, columns=[*MODEL, "mean", "reason"])
    return summary.astype({"mean": float})


def published_ranks(
    metric: str, names: Iterable[str], methods: list[str], ranking: Ranking
) -> pd.DataFrame | None:
    """Mean ranks of the paper's values for the same methods on the same datasets.

    None if the paper lacks one of them, or if there is nothing to rank. For the datasets and
    methods of its Table 1, and with its ranking, these are the ranks of that table.
    """
    if len(methods) < 2 or len(set(methods)) < len(methods):
        return None
    summary = published_summary(metric, names, methods)
    if summary is None:
        return None
    better = METRICS[metric].higher_is_better
    return mean_ranks(rank_methods(summary, higher_is_better=better, ranking=ranking))


def in_standard_errors(mean: Any, error: Any, published: Any, published_error: Any) -> Any:
    """Differences from the paper in standard errors of the difference, of numbers or columns.

    Where the paper prints no error, `error` is used alone. NaN without `error`, and where it is
    zero: folds that are all the same say nothing of others.
    """
    known = np.where(np.asarray(error) > 0, error, np.nan)
    return (mean - published) / np.hypot(known, np.nan_to_num(published_error))


def differences_from_paper(frame: pd.DataFrame, column: str) -> Any:
    """Difference of every row's value in `column` from its published one, in standard errors.

    The frame has the columns `standard_error`, `published` and `published_error`.
    """
    names = [column, "standard_error", "published", "published_error"]
    return in_standard_errors(*(frame[name].astype(float) for name in names))


def difference_cells(frame: pd.DataFrame, count: str = "folds") -> list[Cell]:
    """Differences in the column `standard_errors`, bold beyond the t quantile.

    Args:
        count: Column with the number of folds, or of whatever the errors are over.
    """
    bounds = t_quantile(frame[count])
    cells = []
    for errors, bound in zip(frame["standard_errors"], bounds, strict=True):
        cell = number(errors, 1, sign=True)
        cells.append(emphasised(cell, abs(errors) > bound))
    return cells
