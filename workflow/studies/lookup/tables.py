"""Lookup models, other methods and the paper's (Table 3), and the intervention (Figure 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, text
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
from workflow.studies.error_columns import model_columns, numbers, with_errors

MEASURES = (
    "rmse",
    "correlation",
    "alone_rmse",
    "nearest_rmse",
    "neighbours_rmse",
    "constant_rmse",
    "intervention_correlation",
    "intervention_slope",
    "intervention_rmse",
    "intervention_others",
)
PAPER_DATASET = "protein"
PAPER_COLUMNS = {"NPT": "npt", "1-NN": "one_nn", "k-NN": "knn", "DKL": "dkl"}
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
    "duplicates too."
)


def lookup(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Test RMSE of every lookup model, and how it follows an intervention."""
    study = with_columns(study, ["lookup", "rmse"])
    tidy = framed([_row(model) for model in by_model(study)], MEASURES)
    columns = _columns(tidy)
    main = Section(
        "Lookup: test RMSE with each row's target on its duplicate",
        columns,
        (NOTE, *_reasons(study), *failure_notes(tidy)),
    )
    sections = [main]
    if "published_npt" in tidy and tidy["published_npt"].notna().any():
        sections.append(_compared_with_paper(tidy))
    title = "Intervention: the target of one duplicate is swept"
    sections.append(Section(title, _intervention_columns(tidy)))
    return Table(tidy, tuple(sections))


def _row(model: ModelRows) -> dict[str, Any]:
    rows = model.rows
    task = rows["lookup"].iloc[0] if len(rows) else ""
    measures = [*MEASURES, *(f"{name}_rmse" for name in _compared_baselines(rows))]
    return {
        **model.facts(),
        "lookup": task,
        **{name: rows[name].mean() for name in measures if name in rows},
        "standard_error": standard_error(rows["rmse"]),
        **_published(model.dataset, task),
    }


def _published(dataset: str, task: str) -> dict[str, float]:
    """The paper's RMSE of the same task, on the whole of its dataset."""
    if not is_part_of(dataset, PAPER_DATASET):
        return {}
    cells = published()["table_3_semisynthetic_rmse"]["cells"].get(task, {})
    return {f"published_{name}": cell["value"] for name, cell in cells.items()}


def _compared_baselines(frame: pd.DataFrame) -> list[str]:
    """Baselines that were fitted to the duplicates; a constant is in every row."""
    return [name for name in methods() if f"{name}_rmse" in frame and name != "constant"]


def _reasons(study: pd.DataFrame) -> list[str]:
    """Reasons of baselines without a result."""
    if "compare_with_reasons" not in study:
        return []
    return sorted(set(study["compare_with_reasons"].dropna()))


def _task_column(tidy: pd.DataFrame) -> list[Cell]:
    return [text(task.replace("_", " ")) for task in tidy["lookup"]]


def _columns(tidy: pd.DataFrame) -> dict[str, list[Cell]]:
    names = model_columns(tidy)
    baselines = {}
    for name in _compared_baselines(tidy):
        baselines[methods()[name].title] = numbers(tidy[f"{name}_rmse"], 2)
    return {
        "Dataset": names["Dataset"],
        "Task": _task_column(tidy),
        "Method": names["Method"],
        "RMSE": with_errors(tidy, "rmse", 2),
        "r": numbers(tidy["correlation"], 4),
        "Alone": numbers(tidy["alone_rmse"], 2),
        "1-NN": numbers(tidy["nearest_rmse"], 2),
        "k-NN": numbers(tidy["neighbours_rmse"], 2),
        **baselines,
        "Constant": numbers(tidy["constant_rmse"], 2),
    }


def _intervention_columns(tidy: pd.DataFrame) -> dict[str, list[Cell]]:
    names = model_columns(tidy)
    return {
        "Dataset": names["Dataset"],
        "Task": _task_column(tidy),
        "Method": names["Method"],
        "r of set and predicted": numbers(tidy["intervention_correlation"], 4),
        "RMSE": numbers(tidy["intervention_rmse"], 2),
        "Slope": numbers(tidy["intervention_slope"], 3),
        "Others": numbers(tidy["intervention_others"], 2),
    }


def _compared_with_paper(tidy: pd.DataFrame) -> Section:
    """The same tasks in the paper, on the whole of Protein and with NPTs at full size."""
    shown = tidy[tidy["published_npt"].notna()]
    columns = {
        "Task": _task_column(shown),
        "Method": model_columns(shown)["Method"],
        "RMSE here": with_errors(shown, "rmse", 2),
    }
    for title, name in PAPER_COLUMNS.items():
        columns[f"{title}, paper"] = numbers(shown[f"published_{name}"], 2)
    errors = [_difference(row) for row in shown.to_dict("records")]
    columns[DIFFERENCE] = difference_cells(shown.assign(standard_errors=errors))
    title = "Compared with the paper's Table 3, test RMSE on the whole of Protein"
    return Section(title, columns).without_empty(DIFFERENCE)


def _difference(row: dict[Any, Any]) -> float:
    """From the paper's NPT, in standard errors."""
    if row["method"] != "npt":
        return np.nan
    rmse, error = row["rmse"], row["standard_error"]
    return in_standard_errors(
        rmse,
        error,
        row["published_npt"],
        np.nan,
    )
