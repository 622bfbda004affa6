"""Validation losses over the trainings with committed learning curves (docs/reproduction.md)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from performance.table_columns import markdown_of_cells
from workflow.report.summary import REFERENCE
from workflow.report.titles import dataset_title, method_title

FOLDER = "learning_curves"
TIMES = (25, 50, 75, 100)  # percent of the updates


def curves() -> str:
    """Validation loss at some times of every training, and the lowest one."""
    titles = ["Dataset", "method", "fold", "updates"]
    titles += [f"after {time} %" for time in TIMES]
    titles += ["lowest", "at update"]
    paths = sorted(REFERENCE.glob(f"*/{FOLDER}/*.csv"))
    return markdown_of_cells(titles, [curve_row(path) for path in paths])


def curve_row(path: Path) -> list[str]:
    """Cells of a curve, a file DATASET.VARIANT.folds_FOLD.csv."""
    dataset, rest = path.stem.split(".", 1)
    variant, _, fold = rest.rpartition(".folds_")
    curve = pd.read_csv(path).set_index("update")["validation_loss"]
    updates = curve.index[-1]
    cells = [dataset_title(dataset), method_title("npt", variant), fold, f"{updates:,}"]
    for time in TIMES:
        before = curve[100 * curve.index <= time * updates]
        cells.append(f"{before.iloc[-1]:.4f}")
    return [*cells, f"{curve.min():.4f}", f"{curve.idxmin():,}"]
