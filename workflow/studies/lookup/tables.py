"""Lookup models, other methods and the paper's (Table 3), and the intervention (Figure 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from workflow.config.scoring import Scoring
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    difference_cells,
    in_standard_errors,
    is_part_of,
    published,
)
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    ModelRows,
    by_model,
    framed,
    standard_error,
    with_columns,
)
from workflow.studies.error_columns import model_columns, numbers, texts, with_errors

MEASURES = [
    "rmse",
    "correlation",
    "alone_rmse",
    "nearest_rmse",
    "neighbours_rmse",
    "constant_rmse",
    "intervention_slope",
    "intervention_others",
]
PAPER_DATASET = "protein"
PAPER = {  # columns, and names in Table 3
    "Paper, NPT": "npt",
    "Paper, 1-NN": "one_nn",
    "Paper, k-NN": "knn",
    "Paper, DKL": "dkl",
}
NOTE = (
    "Every row of a batch occurs twice, once with its target hidden and once with it shown. The "
    "error is that of the hidden ones. `Alone` is the same model without the duplicates. The best "
    "k of 1 to 10 neighbours is selected by the test error, as in the paper. Other baselines are "
    "fitted to the duplicates, with their quick grids (DKL: an exact process on the embedded "
    "duplicates, with a kernel learned from the train rows, or from the duplicates where "
    "`from_duplicates` is set). A model of stored rows is trained on "
    "the train rows, and has the duplicates of the probed rows in their place. The intervention "
    "sets the target of one duplicate at a time to values over the whole range. A slope of 1 "
    "follows it. `Others` is the largest change that it causes in the prediction of any other row, "
    "as the median over the sweeps. Rows with nearly equal features attend to each other's "
    "duplicates too. The paper's are on the whole of Protein, with NPTs at full size."
)


def lookup(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Test RMSE of every lookup model, how it follows an intervention, and the paper's Table 3."""
    study = with_columns(study, ["lookup", *MEASURES, "compare_with_reasons"])
    compared = {}  # baselines that were fitted to the duplicates; a constant is in every row
    for name, method in methods().items():
        if f"{name}_rmse" in study and name != "constant":
            compared[method.title] = f"{name}_rmse"
    measures = [*MEASURES, *compared.values()]
    tidy = framed(
        [_row(model, measures) for model in by_model(study)],
        [*measures, *(f"published_{name}" for name in PAPER.values())],
    )
    names = model_columns(tidy)
    columns = {
        "Dataset": names["Dataset"],
        "Task": texts(task.replace("_", " ") for task in tidy["lookup"]),
        "Method": names["Method"],
        "RMSE": with_errors(tidy, "rmse", 2),
        "r": numbers(tidy["correlation"], 4),
        "Alone": numbers(tidy["alone_rmse"], 2),
        "1-NN": numbers(tidy["nearest_rmse"], 2),
        "k-NN": numbers(tidy["neighbours_rmse"], 2),
        **{title: numbers(tidy[name], 2) for title, name in compared.items()},
        "Constant": numbers(tidy["constant_rmse"], 2),
        "Slope": numbers(tidy["intervention_slope"], 3),
        "Others": numbers(tidy["intervention_others"], 2),
        **{title: numbers(tidy[f"published_{name}"], 2) for title, name in PAPER.items()},
        DIFFERENCE: difference_cells(tidy),
    }
    reasons = study["compare_with_reasons"].dropna().unique()
    notes = (NOTE, *sorted(reasons), *failure_notes(tidy))
    section = Section("Lookup: test RMSE with each row's target on its duplicate", columns, notes)
    return Table(tidy, (section.without_empty(*PAPER, DIFFERENCE),))


def _row(model: ModelRows, measures: list[str]) -> dict[str, Any]:
    rows = model.rows
    task = rows["lookup"].iloc[0] if len(rows) else ""
    cells = published()["table_3_semisynthetic_rmse"]["cells"].get(task, {})
    if not is_part_of(model.dataset, PAPER_DATASET):
        cells = {}
    paper = {f"published_{name}": cell["value"] for name, cell in cells.items()}
    mean, error = rows["rmse"].mean(), standard_error(rows["rmse"])
    difference = np.nan
    if model.method == "npt" and paper:
        difference = in_standard_errors(mean, error, paper["published_npt"], np.nan)
    return {
        **model.facts(),
        "lookup": task,
        **rows[measures].astype(float).mean(),
        "standard_error": error,
        **paper,
        "standard_errors": difference,
    }
