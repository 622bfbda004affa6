"""Tables of the measurements under `performance/results`, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from performance.estimator import summary
from performance.table_columns import (
    ATTENTION,
    GRID_SEARCH,
    IMAGE_BYTES,
    IMAGE_STEPS,
    KERNELS,
    MANY_RESULTS,
    PREPARATION,
    PROBES,
    PROCESSES,
    PRODUCTS,
    SOLVED,
    SPANS,
    STEP,
    STORED_FORMS,
    TRAINING,
    by_field,
    markdown,
)

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]


def measured_table(name: str) -> str:
    """A table by its name in the documents: a file, and `forms` for its second table."""
    file = name.partition(" ")[0]
    content = json.loads((RESULTS / f"{file}.json").read_text())
    return MEASURED[name](content["rows"])


def step(rows: Rows) -> str:
    """Steps and evaluations of every implementation."""
    return markdown(rows, STEP)


def solved(rows: Rows) -> str:
    """Fits and predictions of solved NPT by rows."""
    return markdown(rows, SOLVED)


def training(rows: Rows) -> str:
    """Training runs."""
    return markdown(rows, TRAINING)


def memory(rows: Rows) -> str:
    """Memory of a step as the rows grow, in MB."""
    implementations = [field for field in rows[0] if field != "rows"]
    columns = {"rows": "{rows:,}"}
    for name in implementations:
        columns[f"{name}, MB"] = f"{{{name}:,.0f}}"
    return markdown(rows, columns)


def kernel_steps(rows: Rows) -> str:
    """Training steps with each attention kernel."""
    return markdown([row for row in rows if row["measured"] == "step"], KERNELS)


def process_steps(rows: Rows) -> str:
    """Training steps of each process on curves."""
    return markdown(rows, PROCESSES)


def kernel_spans(rows: Rows) -> str:
    """Attention with a span whose distant rows are skipped."""
    return markdown([row for row in rows if row["measured"] == "span"], SPANS)


def image_steps(rows: Rows) -> str:
    """Training steps with each encoder of images."""
    return markdown([row for row in rows if row["measured"] == "step"], IMAGE_STEPS)


def image_bytes(rows: Rows) -> str:
    """Memory of an image in a table."""
    return markdown([row for row in rows if row["measured"] == "bytes"], IMAGE_BYTES)


def profile(rows: Rows) -> str:
    """Time of a step by kind of work."""
    columns = {
        "configuration": "{configuration}",
        "implementation": "{implementation}",
    }
    columns |= by_field(rows[0]["shares"], "{FIELD:.0%}")
    return markdown([row | row["shares"] for row in rows], columns)


def grid_search(rows: Rows) -> str:
    """Shared searches compared with those of scikit-learn."""
    return markdown([with_winner(row) for row in rows], GRID_SEARCH)


def with_winner(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the grid search with its winners as text."""
    if row["same_winner"]:
        return row | {"winner_text": "same"}
    ours = f"{row['validation_loss']:.6g}"
    theirs = f"{row['naive_validation_loss']:.6g}"
    return row | {"winner_text": f"loss {ours}, GridSearchCV {theirs}"}


def products(rows: Rows) -> str:
    """Rates of matrix products."""
    return markdown(rows, PRODUCTS)


def attention(rows: Rows) -> str:
    """Explicit and fused attention by length."""
    return markdown(rows, ATTENTION)


def many_results(rows: Rows) -> str:
    """Steps of the workflow with many results."""
    return markdown(rows, MANY_RESULTS)


def probes(rows: Rows) -> str:
    """Batched probes compared with the plain loop."""
    return markdown(rows, PROBES)


def preparation(rows: Rows) -> str:
    """Costs of preparing a table once and opening it in each job, and of reading its text."""
    tables: dict[str, dict[str, Any]] = {}
    for row in rows:
        table = tables.setdefault(row["table"], {"table": row["table"]})
        way = row["way"]
        if way == "forms":
            continue
        table[f"{way}_seconds"] = row["seconds"]
        table[f"{way}_peak_mb"] = row["peak_mb"]
        if way == "prepare":
            table["text_mb"] = row["text_mb"]
            table["disk_mb"] = row["disk_mb"]
    return markdown(tables.values(), PREPARATION)


def stored_forms(rows: Rows) -> str:
    """Sizes and times of the formats in which a table could be stored."""
    forms = [row for row in rows if row["way"] == "forms"]
    return markdown(forms, STORED_FORMS)


def estimators(rows: Rows) -> str:
    """Errors of every estimator on every table, then their seconds."""
    tables: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row["table"]
        facts = {field: row[field] for field in ("table", "rows", "columns")}
        table = tables.setdefault(name, facts)
        estimator = row["estimator"]
        table[f"{estimator} error"] = error_text(row)
        table[f"{estimator} seconds"] = row["seconds"]
    names = list(dict.fromkeys(row["estimator"] for row in rows))
    columns = {
        "table": "{table}",
        "rows": "{rows:,}",
        "columns": "{columns}",
    }
    for name in names:
        columns[name] = f"{{{name} error}}"
    for name in names:
        columns[f"{name}, s"] = f"{{{name} seconds:.1f}}"
    return markdown(tables.values(), columns)


def error_text(row: dict[str, Any]) -> str:
    """A root mean squared error, or a percentage of wrong classes."""
    error = row["error"]
    if row["nll"] is None:
        return f"{error:.3g}"
    return f"{error:.1%}"


def estimator_summary(rows: Rows) -> str:
    """Mean ranks, errors and seconds relative to CatBoost's."""
    frame = summary(pd.DataFrame(rows))
    return frame.to_markdown()


MEASURED: dict[str, Callable[[Rows], str]] = {
    "npt_step.cpu": step,
    "npt_step_one_thread.cpu": step,
    "npt_step_avx2.cpu": step,
    "npt_step.cuda": step,
    "npt_training.cpu": training,
    "npt_profile.cpu": profile,
    "npt_memory.cpu": memory,
    "grid_search.cpu": grid_search,
    "probes.cpu": probes,
    "many_results.cpu": many_results,
    "products.cpu": products,
    "attention.cpu": attention,
    "prepare.cpu": preparation,
    "prepare.cpu forms": stored_forms,
    "estimator.cpu": estimators,
    "estimator.cpu summary": estimator_summary,
    "estimator_large.cpu": estimators,
    "solved.cpu": solved,
    "solved.cuda": solved,
    "kernels.cpu": kernel_steps,
    "process_step.cpu": process_steps,
    "kernels.cpu spans": kernel_spans,
    "images.cpu": image_steps,
    "images.cpu bytes": image_bytes,
}
