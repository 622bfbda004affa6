"""Log-likelihoods and errors of completed images."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, number, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model, standard_error
from workflow.report.titles import method_title
from workflow.studies.completion.tasks import TITLES
from workflow.studies.error_columns import columns_of
from workflow.studies.process_rows import finished_rows

REFERENCE = "Pixels of the training images"
NOTE = (
    "Mean log density of a hidden pixel in nats, and RMSE of the predicted mean; intensities are "
    "from -0.5 to 0.5. Means over seeds with standard errors. All tasks are asked of the same "
    "weights, which were trained on random pixels. The reference predicts each pixel by its mean "
    "and deviation over the training images. No deviation is below 0.1."
)
SCORES = {"log_likelihood": "log density", "rmse": "RMSE"}
COLUMNS = [
    *MODEL,
    "seed",
    "task",
    "context",
    "log_likelihood",
    "rmse",
    "reference_log_likelihood",
    "reference_rmse",
]
Facts = dict[Any, Any]


def completions(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Scores by task, a row for each model, and one for the reference."""
    tidy = by_seed(study)
    rows: list[dict[str, Cell]] = []
    if len(tidy):
        rows.append(_cells(REFERENCE, tidy, "reference_"))
    for _, part in tidy.groupby(MODEL, sort=False):
        first = part.iloc[0]
        title = method_title(first["method"], first["variant"])
        rows.append(_cells(title, part, ""))
    facts = [model.facts() for model in by_model(study)]
    models = pd.DataFrame(facts)
    notes = (NOTE, *failure_notes(models))
    section = Section("Completed images", columns_of(rows), notes)
    return Table(tidy, (section,))


def by_seed(study: pd.DataFrame) -> pd.DataFrame:
    """Scores of every model, seed and task."""
    rows: list[Facts] = []
    for row in finished_rows(study, "tasks"):
        columns = json.loads(row["tasks"])
        tasks = pd.DataFrame(columns)
        tasks["rmse"] = tasks["square"].pow(0.5)
        tasks["reference_rmse"] = tasks["reference_square"].pow(0.5)
        for name in (*MODEL, "seed"):
            tasks[name] = row[name]
        rows += tasks[COLUMNS].to_dict("records")
    return pd.DataFrame(rows, columns=COLUMNS)


def _cells(title: str, part: pd.DataFrame, prefix: str) -> dict[str, Cell]:
    cells = {"Method": text(title)}
    by_task = part.groupby("task", sort=False)
    for task, of_task in by_task:
        for name, score in SCORES.items():
            values = of_task[f"{prefix}{name}"]
            error = float("nan") if prefix else standard_error(values)
            heading = f"{TITLES[str(task)]}, {score}"
            mean = values.mean()
            cells[heading] = number(mean, 3, error=error)
    return cells
