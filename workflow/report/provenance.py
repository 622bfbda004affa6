"""What a report was made from: datasets, chosen settings, versions of libraries and code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from npt.data.store import Prepared
from workflow.report.cells import count, text
from workflow.report.sections import Section
from workflow.report.statistics import MODEL
from workflow.report.titles import dataset_title, method_title

VERSION_COLUMNS = ["method", "versions", "revision", "device", "source"]


def datasets_section(prepared: Iterable[Prepared]) -> Section:
    """Size, source and licence of every dataset."""
    rows = [_dataset_row(dataset) for dataset in prepared]
    return Section("Data", _columns(rows))


def settings_section(studies: Iterable[pd.DataFrame]) -> Section:
    """What each method chose most often on each dataset."""
    rows = []
    for (dataset, method, variant), chosen in _chosen_settings(studies).items():
        row = {
            "Dataset": text(dataset_title(dataset)),
            "Method": text(method_title(method, variant)),
            "Chosen most often": text(most_frequent(chosen)),
        }
        rows.append(row)
    return Section("Settings", _columns(rows))


def most_frequent(chosen: Sequence[dict[str, Any]]) -> str:
    """The most frequent settings, and the range of updates that the weights come from."""
    shown = [_shown_settings(settings) for settings in chosen]
    most = max(shown, key=shown.count)
    parts = []
    if most:
        parts.append(f"{most} ({shown.count(most)} of {len(shown)} trainings)")
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
    devices = sorted(set(rows["device"].dropna().astype(str)))
    return [
        *_libraries(rows),
        f"Device: {', '.join(devices) or 'unknown'}.",
        *_external_results(rows),
        _code_revisions(rows),
    ]


def _chosen_settings(
    studies: Iterable[pd.DataFrame],
) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Settings of every fold by model, from the first study that has it."""
    settings = {}
    for study in studies:
        if "chosen" not in study:
            continue
        searched = study.dropna(subset=["chosen"])
        for names, rows in searched.groupby(MODEL, sort=False):
            chosen = [json.loads(line) for line in rows["chosen"]]
            settings.setdefault(names, chosen)
    return settings


def _shown_settings(settings: dict[str, Any]) -> str:
    """All settings but the update that the best weights come from, which each fold has its own."""
    pairs = [f"{key} {value}" for key, value in settings.items() if key != "update"]
    return ", ".join(pairs)


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
    return f"Hashes of the methods' code: {'; '.join(revisions)}."


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
