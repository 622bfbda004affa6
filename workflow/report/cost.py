"""Cost of searches and trainings (paper Tables 6 and 7)."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import count, seconds, text
from workflow.report.published import paper_name, published
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, with_columns
from workflow.studies.error_columns import model_columns

MEASURES = {
    "grid": "mean",
    "configurations": "mean",
    "fits": "mean",
    "failed_configurations": "sum",
    "fit_seconds": "mean",
    "predict_seconds": "mean",
    "peak_memory_mb": "max",
    "peak_gpu_memory_mb": "max",
    "threads": "max",
}
GPU, PAPER_SECONDS, PAPER_MEMORY = "GPU memory, MB", "Paper, seconds", "Paper, memory, MB"
NOTE = (
    "Means per fold. Seconds are those of the search with all its fits, and of the prediction of "
    "validation and test rows. Memory is the largest peak of the whole process, GPU memory what "
    "PyTorch held. The selected model is not refitted. The paper's time is that of the whole "
    "search for the baselines and of one training for NPT, on its machines."
)


def cost(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Configurations, seconds and memory of every method on every dataset."""
    study = with_columns(study, [*MEASURES, "device"])
    finished = study[study["status"] == "ok"]
    numbers = finished[list(MEASURES)].astype(float)
    groups = finished[[*MODEL, "device"]].join(numbers).groupby(MODEL, sort=False)
    tidy = groups.agg({**MEASURES, "device": "first"}).reset_index()
    tidy = tidy.rename(columns={"fit_seconds": "search_seconds"})
    paper = published()["tables_6_and_7_cost"]["cells"]
    costs = []
    for dataset, method in zip(tidy["dataset"], tidy["method"], strict=True):
        costs.append(paper.get(paper_name(dataset), {}).get(method, {}))
    tidy["paper_seconds"] = [cell.get("seconds", float("nan")) for cell in costs]
    tidy["paper_memory_mb"] = [1000 * cell.get("memory_gb", float("nan")) for cell in costs]
    columns = {
        **model_columns(tidy),
        "Configurations": [count(number) for number in tidy["configurations"].fillna(1)],
        "of the grid's": [count(number) for number in tidy["grid"]],
        "Failed": [count(number) for number in tidy["failed_configurations"]],
        "Fits": [count(number) for number in tidy["fits"]],
        "Search, seconds": [seconds(value) for value in tidy["search_seconds"]],
        "Prediction, seconds": [seconds(value) for value in tidy["predict_seconds"]],
        "Memory, MB": [count(peak) for peak in tidy["peak_memory_mb"]],
        GPU: [count(peak) for peak in tidy["peak_gpu_memory_mb"]],
        PAPER_SECONDS: [seconds(value) for value in tidy["paper_seconds"]],
        PAPER_MEMORY: [count(peak) for peak in tidy["paper_memory_mb"]],
        "Device": [text(device) for device in tidy["device"]],
    }
    section = Section("Cost per fold", columns, (NOTE,), group="Cost")
    return Table(tidy, (section.without_empty(GPU, PAPER_SECONDS, PAPER_MEMORY),))
