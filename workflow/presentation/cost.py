"""Cost of searches and trainings (paper Tables 6 and 7)."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.presentation.published import paper_name, published
from workflow.presentation.sections import Table
from workflow.presentation.statistics import MODEL, with_columns

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


def cost(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Configurations, seconds and memory of every method on every dataset; only a file.

    Seconds are means per fold: `search_seconds` of the search with all its fits, `predict_seconds`
    of validation and test rows. Memory is the largest peak of the whole process, of tuned NPTs that
    of the best configuration, that of the GPU what PyTorch held. The paper's seconds are those of
    the whole search for the baselines and of one training for NPT, on its machines.
    """
    study = with_columns(study, [*MEASURES, "device"])
    finished = study[study["status"] == "ok"].astype(dict.fromkeys(MEASURES, float))
    groups = finished.groupby(MODEL, sort=False)
    tidy = groups.agg({**MEASURES, "device": "first"}).reset_index()
    tidy = tidy.rename(columns={"fit_seconds": "search_seconds"})
    paper = published()["tables_6_and_7_cost"]["cells"]
    costs = []
    for dataset, method in zip(tidy["dataset"], tidy["method"], strict=True):
        costs.append(paper.get(paper_name(dataset), {}).get(method, {}))
    printed = pd.DataFrame(costs, tidy.index).reindex(columns=["seconds", "memory_gb"])
    tidy["paper_seconds"] = printed["seconds"]
    tidy["paper_memory_mb"] = 1000 * printed["memory_gb"]
    return Table(tidy, ())
