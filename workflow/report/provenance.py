"""What a report was made from: datasets, chosen settings, versions of libraries and code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from npt.data.store import Prepared
from workflow.report.cells import count, text
from workflow.report.statistics import MODEL
from workflow.report.table import Section
from workflow.report.titles import dataset_title, method_title

VERSION_COLUMNS = ["method", "versions", "revision", "device", "source"]


def datasets_section(prepared: Iterable[Prepared]) -> Section:
    """Size, source and licence of every dataset."""
    rows = [_dataset_row(dataset) for dataset in prepared]
    return Section("Data", _columns(rows))


def settings_section(studies: Iterable[pd.DataFrame]) -> Section:
    """What each method chose most often on each dataset."""
    chosen: dict[tuple[str, ...], pd.Series] = {}
    for study in studies:
        if "chosen" not in study:
            continue
        for names, rows in study.dropna(subset=["chosen"]).groupby(MODEL, sort=False):
            chosen.setdefault(tuple(map(str, names)), rows["chosen"])
    rows = []
    for (dataset, method, variant), settings in chosen.items():
        row = {
            "Dataset": text(dataset_title(dataset)),
            "Method": text(method_title(method, variant)),
            "Chosen most often": text(most_frequent([json.loads(row) for row in settings])),
        }
        rows.append(row)
    return Section("Settings", _columns(rows))


def most_frequent(chosen: Sequence[dict[str, Any]]) -> str:
    """The settings that most folds chose, and the range of updates that their weights come from."""
    shown = []
    for settings in chosen:
        pairs = [f"{key} {value}" for key, value in settings.items() if key != "update"]
        shown.append(", ".join(pairs))
    most = max(shown, key=shown.count)
    parts = []
    if most:
        parts.append(f"{most} ({shown.count(most)} of {len(shown)} folds)")
    updates = [settings["update"] for settings in chosen if "update" in settings]
    if updates:
        parts.append(f"best weights after {min(updates)} to {max(updates)} updates")
    return "; ".join(parts)


def version_lines(studies: Iterable[pd.DataFrame]) -> list[str]:
    """Versions, devices and code of all rows; several lines of versions where machines differ."""
    frames = [study.reindex(columns=VERSION_COLUMNS) for study in studies]
    if not frames:
        return []
    rows = pd.concat(frames)
    lines = []
    for versions in rows["versions"].dropna().unique():
        pairs = json.loads(versions).items()
        lines.append(f"Libraries: {', '.join(f'{name} {version}' for name, version in pairs)}.")
    devices = sorted(set(rows["device"].dropna().astype(str)))
    lines.append(f"Device: {', '.join(devices) or 'unknown'}.")
    for source, part in rows.dropna(subset="source").groupby("source", sort=False):
        lines.append(f"External results of {', '.join(part['method'].unique())}: {source}.")
    revisions = []
    known = rows.dropna(subset="revision").groupby("method", sort=False)["revision"]
    for method, part in known:
        revisions.append(f"{method} {', '.join(part.astype(str).unique())}")
    lines.append(f"Hashes of the methods' code: {'; '.join(revisions)}.")
    return lines


def _dataset_row(prepared: Prepared) -> dict[str, Any]:
    facts = prepared.facts
    split = next(iter(prepared.splits.values()))
    sizes = [len(part) for part in (split.train, split.validation, split.test)]
    origins = [f"{name} ({origin})" for name, origin in facts["origins"].items()]
    return {
        "Dataset": text(dataset_title(facts["name"])),
        "Task": text(prepared.table.task),
        "Rows": count(prepared.table.rows),
        "Columns": count(len(prepared.table.columns)),
        "Train / validation / test": text(" / ".join(map(str, sizes))),
        "Source": text(", ".join(origins) or "generated"),
        "Licence": text(facts["licence"]),
        "Content": text(facts["content"][:16]),
    }


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    if not rows:
        return {}
    return {title: [row[title] for row in rows] for title in rows[0]}
