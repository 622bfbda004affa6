"""Scores of a longer training of NPT, shipped with the project, beside those of a run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from npt.provenance import ROOT
from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, count, metric_decimals, number, text
from workflow.report.sections import Section
from workflow.report.statistics import MODEL, of_model, summarise, tasks_of, with_columns
from workflow.report.titles import EXACT, dataset_title, is_shortened, method_titles, titles_of
from workflow.results.study_file import read_study

FOLDER = ROOT / "results" / "reference" / "paper_tenth"
TITLE = "For reference, shipped with the project: NPT with a tenth of the paper's updates"
NOTE = (
    "Not of this run: its NPT has fewer updates. The rows are in `results/reference/paper_tenth`. "
    "± is the standard error over folds. The last column is the geometric mean over folds, of the "
    "test rows when all other rows are shuffled."
)


def shipped_section(studies: Iterable[pd.DataFrame], scoring: Scoring) -> Section | None:
    """Scores of the shipped NPT on datasets where that of a run has fewer updates."""
    fewest: dict[str, float] = {}
    for study in studies:
        of_exact = with_columns(study[study["method"] == EXACT], ["updates"])
        for dataset, updates in of_exact.groupby("dataset", sort=False)["updates"].min().items():
            name = str(dataset)
            fewest[name] = min(float(updates), fewest.get(name, np.inf))
    frames = []
    for dataset, updates in fewest.items():
        if not is_shortened(dataset, updates):
            continue
        path = FOLDER / f"{dataset}.csv"
        if path.exists():
            shipped = read_study(path)
            frames.append(shipped[shipped["updates"] > updates])
    longer = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return _section(longer, scoring) if len(longer) else None


def _section(shipped: pd.DataFrame, scoring: Scoring) -> Section:
    corruption = read_study(FOLDER / "corruption.csv")
    parts = []
    for task in tasks_of(shipped):
        parts.append(summarise(shipped, task, scoring.metrics[task]))
    summary = pd.concat(parts, ignore_index=True)
    titles = []
    for model in summary.to_dict("records"):
        with titles_of(of_model(shipped, model)):
            titles += method_titles(pd.DataFrame([model]))
    metrics = [METRICS[name].title for name in summary["metric"]]
    columns: dict[str, list[Cell]] = {
        "Dataset": [text(dataset_title(name)) for name in summary["dataset"]],
        "Method": [text(title) for title in titles],
        "Folds": [count(folds) for folds in summary["folds"]],
        "Metric": [text(metric) for metric in metrics],
        "Test": [],
        "RMSE, shuffled": [],
    }
    for model in summary.to_dict("records"):
        mean = model["mean"]
        score = number(mean, metric_decimals(mean), error=model["standard_error"])
        probed = of_model(corruption, {name: model[name] for name in MODEL})
        columns["Test"].append(score)
        columns["RMSE, shuffled"].append(_factor(probed))
    return Section(TITLE, columns, (NOTE,)).without_empty("RMSE, shuffled")


def _factor(probed: pd.DataFrame) -> Cell:
    """By what the error is multiplied when all other rows are shuffled."""
    if probed.empty:
        return MISSING
    ratio = np.exp(np.log(probed["corrupted_rmse"] / probed["clean_rmse"]).mean())
    return Cell(f"× {ratio:.2f} ({len(probed)} folds)", float(ratio))
