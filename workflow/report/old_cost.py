"""What searches and trainings took (paper Tables 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.data.datasets import datasets
from workflow.config.scoring import Scoring
from workflow.report.old_published import paper_name, published
from workflow.report.section import DASH, Section, Tabulated, counted, duration, noted
from workflow.report.summary import dataset_title, method_titles

COST_COLUMNS = [
    "dataset", "method", "variant", "folds", "grid", "configurations", "models", "failed_configurations", "fits",
    "search_seconds", "predict_seconds", "peak_memory_mb", "peak_gpu_memory_mb", "threads", "device",
]  # fmt: skip
COST_NOTE = (
    "Means over the folds that have a result; prediction is of the validation and test rows. Memory is the largest peak of the "
    "whole process, GPU memory what PyTorch held. The first fold of a job also loads its libraries. Configurations that one "
    "model serves share its fit, and the winner keeps the model that was scored, so that no refit is needed."
)

PAPER_NOTE = (
    "The paper's time is that of the whole search for the baselines and of one training for NPT, on its machines; it prints no "
    "errors."
)


def cost(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """What every method took on every dataset (paper Tables 6 and 7): means over folds, and the largest peak of memory.

    The search of a baseline is over its whole grid, that of a tuned NPT over all its configurations. What rows of an earlier
    revision do not tell is left out.
    """
    study = study.reindex(
        columns=list(dict.fromkeys([*study.columns, *COST_COLUMNS, "fit_seconds"]))
    )
    rows = []
    for (dataset, method, variant), group in study[study["status"] == "ok"].groupby(
        ["dataset", "method", "variant"], sort=False
    ):
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "variant": variant,
                "folds": len(group),
                "grid": group["grid"].mean(),
                "configurations": group["configurations"].mean(),
                "models": group["models"].mean(),
                "failed_configurations": group["failed_configurations"].sum(),
                "fits": group["fits"].mean(),
                "search_seconds": group["fit_seconds"].mean(),
                "predict_seconds": group["predict_seconds"].mean(),
                "peak_memory_mb": group["peak_memory_mb"].max(),
                "peak_gpu_memory_mb": group["peak_gpu_memory_mb"].max(),
                "threads": group["threads"].max(),
                "device": ", ".join(sorted(set(group["device"].dropna()))) or DASH,
            }
        )
    tidy = pd.DataFrame(rows, columns=COST_COLUMNS)
    names = list(dict.fromkeys(tidy["dataset"]))
    sections = [
        Section(
            f"Cost on {dataset_title(name)}{_size(name)}, a fold",
            _cost_cells(tidy[tidy["dataset"] == name]),
            (PAPER_NOTE,)
            if paper_name(name) in published()["tables_6_and_7_cost"]["cells"]
            else (),
            fold="Cost",
        )
        for name in names
    ]
    return Tabulated(tidy, noted(sections, COST_NOTE))


def _size(dataset: str) -> str:
    declared = datasets().get(dataset)
    return f" ({declared.rows:,} rows)" if declared else ""


def _cost_cells(part: pd.DataFrame) -> pd.DataFrame:
    cells = pd.DataFrame(
        {
            "Method": method_titles(part),
            "Configurations": [_tried(row) for row in part.to_dict("records")],
            "Models fitted": [_whole(fits) for fits in part["fits"]],
            "Search": [duration(seconds) for seconds in part["search_seconds"]],
            "Prediction": [duration(seconds) for seconds in part["predict_seconds"]],
            "Peak memory, MB": [_whole(peak) for peak in part["peak_memory_mb"]],
            "GPU memory, MB": [_whole(peak) for peak in part["peak_gpu_memory_mb"].astype(float)],
            **_published_cells(part),
            "On": [
                device if np.isnan(threads) else f"{device}, {counted(round(threads), 'thread')}"
                for device, threads in zip(part["device"], part["threads"], strict=True)
            ],
        }
    )
    return (
        cells if (cells["GPU memory, MB"] != DASH).any() else cells.drop(columns="GPU memory, MB")
    )


def _published_cells(part: pd.DataFrame) -> dict[str, list[str]]:
    """The paper's time and memory, where it tells them of the dataset."""
    cells = published()["tables_6_and_7_cost"]["cells"].get(
        paper_name(str(part["dataset"].iloc[0]))
    )
    if cells is None:
        return {}
    theirs = [cells.get(method) for method in part["method"]]
    return {
        "Paper, time": [
            f"{duration(one['seconds'])}, {counted(one['cpus'], 'CPU')}" if one else DASH
            for one in theirs
        ],
        "Paper, memory, MB": [f"{1000 * one['memory_gb']:,.0f}" if one else DASH for one in theirs],
    }


def _whole(value: float) -> str:
    return DASH if np.isnan(value) else f"{value:,.0f}"


def _tried(row: Mapping[Any, Any]) -> str:
    """How many configurations a search scored, of how many; how many of them differ, and how many failed."""
    if pd.isna(row["configurations"]):
        return DASH if pd.isna(row["fits"]) else "1"
    parts = [
        f"{row['configurations']:,.0f}"
        + ("" if pd.isna(row["grid"]) else f" of {row['grid']:,.0f}")
    ]
    if not pd.isna(row["models"]) and row["models"] < row["configurations"]:
        parts.append(f"{row['models']:,.0f} distinct")
    if row["failed_configurations"] > 0:
        parts.append(f"{row['failed_configurations']:.0f} failed over all folds")
    return ", ".join(parts)
