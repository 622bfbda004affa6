"""Cost of searches and trainings (paper Tables 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from npt.data.datasets import datasets
from workflow.config.scoring import Scoring
from workflow.report.cells import DASH, MISSING, Cell, count, counted, duration, seconds, text
from workflow.report.published import paper_name, published
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import MODEL, with_columns
from workflow.report.titles import dataset_title, method_titles

COLUMNS = [
    *MODEL,
    "folds",
    "grid",
    "configurations",
    "models",
    "failed_configurations",
    "fits",
    "search_seconds",
    "predict_seconds",
    "peak_memory_mb",
    "peak_gpu_memory_mb",
    "threads",
    "device",
]
ROWS = ["train_rows", "validation_rows", "test_rows"]
NOTE = (
    "Means over the folds that have a result. Prediction is of the validation and test rows. "
    "Memory is the largest peak of the whole process, GPU memory what PyTorch held. Libraries "
    "that a process shares with others count where it uses them. The first fold of a job may also "
    "load libraries. Configurations that one model serves share its fit. "
    "The selected model is not refitted."
)
PAPER_NOTE = (
    "The paper's time is that of the whole search for the baselines and of one training for NPT, "
    "on its machines. It prints no errors."
)


def cost(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Seconds and memory of every method on every dataset.

    The search of a baseline is over its whole grid, that of a tuned NPT over all configurations.
    """
    study = with_columns(study, [*COLUMNS, *ROWS, "fit_seconds"])
    finished = study[study["status"] == "ok"]
    rows = []
    for names, group in finished.groupby(MODEL, sort=False):
        rows.append({**dict(zip(MODEL, names, strict=True)), **_costs(group)})
    tidy = pd.DataFrame(rows, columns=COLUMNS)
    sections = []
    sizes = finished[ROWS].sum(axis=1, skipna=False).groupby(finished["dataset"]).max()
    for dataset, part in tidy.groupby("dataset", sort=False):
        sections.append(_section(str(dataset), part, sizes[dataset]))
    return Table(tidy, with_notes(sections, NOTE))


def _costs(rows: pd.DataFrame) -> dict[str, Any]:
    return {
        "folds": rows["fold"].nunique(),
        "grid": rows["grid"].mean(),
        "configurations": rows["configurations"].mean(),
        "models": rows["models"].mean(),
        "failed_configurations": rows["failed_configurations"].sum(),
        "fits": rows["fits"].mean(),
        "search_seconds": rows["fit_seconds"].mean(),
        "predict_seconds": rows["predict_seconds"].mean(),
        "peak_memory_mb": rows["peak_memory_mb"].max(),
        "peak_gpu_memory_mb": rows["peak_gpu_memory_mb"].max(),
        "threads": rows["threads"].max(),
        "device": ", ".join(sorted(set(rows["device"].dropna()))) or DASH,
    }


def _section(dataset: str, part: pd.DataFrame, table_rows: float) -> Section:
    declared = datasets().get(dataset)
    if pd.isna(table_rows) and declared:  # rows of another program
        table_rows = declared.rows
    size = "" if pd.isna(table_rows) else f" ({table_rows:,.0f} rows)"
    published_costs = published()["tables_6_and_7_cost"]["cells"].get(paper_name(dataset))
    rows = part.to_dict("records")
    columns = {
        "Method": [text(title) for title in method_titles(part)],
        "Configurations": [_configurations(row) for row in rows],
        "Models fitted": [count(fits) for fits in part["fits"]],
        "Search": [seconds(value) for value in part["search_seconds"]],
        "Prediction": [seconds(value) for value in part["predict_seconds"]],
        "Peak memory, MB": [count(peak) for peak in part["peak_memory_mb"]],
        "GPU memory, MB": [count(peak) for peak in part["peak_gpu_memory_mb"].astype(float)],
        **_published_columns(part, published_costs),
        "On": [_machine(row) for row in rows],
    }
    section = Section(
        f"Cost on {dataset_title(dataset)}{size}, per fold",
        columns,
        notes=(PAPER_NOTE,) if published_costs else (),
        group="Cost",
    )
    return section.without_empty("GPU memory, MB")


def _configurations(row: Mapping[Any, Any]) -> Cell:
    """Scored configurations of those of the grid; how many models they need; how many failed."""
    scored = row["configurations"]
    if pd.isna(scored):
        return MISSING if pd.isna(row["fits"]) else count(1)
    parts = [f"{scored:,.0f}"]
    if not pd.isna(row["grid"]):
        parts = [f"{scored:,.0f} of {row['grid']:,.0f}"]
    if row["models"] < scored:
        parts.append(f"{row['models']:,.0f} distinct")
    if row["failed_configurations"] > 0:
        parts.append(f"{row['failed_configurations']:.0f} failed over all folds")
    return Cell(", ".join(parts), scored)


def _published_columns(
    part: pd.DataFrame, published_costs: Mapping[str, Any] | None
) -> dict[str, list[Cell]]:
    """The paper's time and memory on the dataset, if it prints them."""
    if published_costs is None:
        return {}
    times = []
    memories = []
    for method in part["method"]:
        costs = published_costs.get(method)
        times.append(_published_time(costs) if costs else MISSING)
        memories.append(count(1000 * costs["memory_gb"]) if costs else MISSING)
    return {"Paper, time": times, "Paper, memory, MB": memories}


def _published_time(costs: Mapping[str, Any]) -> Cell:
    shown = f"{duration(costs['seconds'])}, {counted(costs['cpus'], 'CPU')}"
    return Cell(shown, costs["seconds"], unit="s")


def _machine(row: Mapping[Any, Any]) -> Cell:
    if pd.isna(row["threads"]):
        return text(row["device"])
    return text(f"{row['device']}, {counted(round(row['threads']), 'thread')}")
