"""What a report was made from: datasets, versions of libraries and code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from npt.data.store import Prepared
from npt.table import PARTS, Table
from workflow.report.cells import Cell, count, percent, text
from workflow.report.sections import Section
from workflow.report.titles import dataset_title

VERSION_COLUMNS = ["method", "versions", "revision", "device", "source"]


def datasets_section(prepared: Iterable[Prepared]) -> Section:
    """Size, source and licence of every dataset."""
    rows = [_dataset_row(dataset) for dataset in prepared]
    return Section("Data", _columns(rows))


def version_lines(studies: Iterable[pd.DataFrame]) -> list[str]:
    """Versions, devices and code of all rows; several lines of versions where machines differ."""
    frames = [study.reindex(columns=VERSION_COLUMNS) for study in studies]
    if not frames:
        return []
    rows = pd.concat(frames)
    devices = sorted(set(rows["device"].dropna().astype(str)))
    return [
        *_libraries(rows),
        f"Device: {', '.join(devices) or 'unknown'}.",
        *_external_results(rows),
        _code_revisions(rows),
    ]


def _libraries(rows: pd.DataFrame) -> list[str]:
    lines = []
    for versions in rows["versions"].dropna().unique():
        libraries = json.loads(versions).items()
        shown = [f"{name} {version}" for name, version in libraries]
        lines.append(f"Libraries: {', '.join(shown)}.")
    return lines


def _external_results(rows: pd.DataFrame) -> list[str]:
    lines = []
    external = rows.dropna(subset="source")
    for source, part in external.groupby("source", sort=False):
        names = ", ".join(part["method"].unique())
        lines.append(f"External results of {names}: {source}.")
    return lines


def _code_revisions(rows: pd.DataFrame) -> str:
    revisions = []
    known = rows.dropna(subset="revision")
    for method, part in known.groupby("method", sort=False):
        hashes = part["revision"].astype(str).unique()
        revisions.append(f"{method} {', '.join(hashes)}")
    return f"Versions of the methods: {'; '.join(revisions)}."


def _dataset_row(prepared: Prepared) -> dict[str, Any]:
    facts = prepared.facts
    split = next(iter(prepared.splits.values()))
    sizes = [str(len(split.rows(part))) for part in PARTS]
    origins = []
    for name, origin in facts["origins"].items():
        origins.append(f"{name} ({origin})")
    return {
        "Dataset": text(dataset_title(facts["name"])),
        "Task": text(prepared.table.task),
        "Rows": count(prepared.table.rows),
        **_columns_of(prepared.table),
        "Train / validation / test": text(" / ".join(sizes)),
        "Source": text(", ".join(origins) or "generated"),
        "Licence": text(facts["licence"]),
        "Hash of the content": text(facts["content"][:16]),
    }


def _columns_of(table: Table) -> dict[str, Cell]:
    """Features, missing cells and target of a table."""
    kinds = [table.columns[column].kind for column in table.features]
    missing = 0
    for column in table.features:
        cells = table.numbers(column)
        missing += int(np.isnan(cells).sum())
    share = missing / max(1, table.rows * len(kinds))
    return {
        "Features": count(len(kinds)),
        "Categorical": count(kinds.count("categorical")),
        "Missing": percent(share, 1) if missing else text("none"),
        "Target": text(_target(table)),
    }


def _target(table: Table) -> str:
    """Mean and standard deviation of numbers; the classes and the share of the largest."""
    truth = table.truth
    known = truth[~np.isnan(truth)]
    if table.task == "regression":
        return f"mean {known.mean():.3g}, SD {known.std():.3g}"
    classes = table.columns[table.target].size
    sizes = np.bincount(known.astype(int))
    largest = sizes.max() / len(known)
    return f"{classes} classes, {100 * largest:.0f} % in the largest"


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    if not rows:
        return {}
    return {title: [row[title] for row in rows] for title in rows[0]}
