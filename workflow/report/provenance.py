"""What a report was made from: datasets, chosen settings, versions of libraries and code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from npt.data.store import Prepared
from npt.table import Table
from workflow.planning.revision import ROOT
from workflow.planning.run import Run
from workflow.report.cells import (
    Cell,
    count,
    duration,
    emphasised,
    percent,
    text,
)
from workflow.report.published import WHOLE_METHODS
from workflow.report.sections import Section
from workflow.report.statistics import MODEL
from workflow.report.titles import NPTS, dataset_title, method_title

VERSION_COLUMNS = ["method", "versions", "revision", "device", "source"]


RUN_COLUMNS = ["status", "fit_seconds", "predict_seconds", "machine", "date"]


def run_facts(studies: Iterable[pd.DataFrame]) -> list[str]:
    """When and where the rows were made, how long their methods computed, and the revision."""
    frames = [study.reindex(columns=[*MODEL, "fold", "seed", *RUN_COLUMNS]) for study in studies]
    if not frames:
        return []
    rows = pd.concat(frames)
    trainings = rows.dropna(subset="fit_seconds").drop_duplicates([*MODEL, "fold", "seed"])
    times = trainings[["fit_seconds", "predict_seconds"]].sum()
    facts = [_days(rows["date"].dropna())]
    if times.sum() > 0:
        facts.append(f"{duration(times.sum())} of training")
    machines = sorted(set(rows["machine"].dropna()))
    facts.append(machines[0] if len(machines) == 1 else f"{len(machines)} machines")
    commit = code_commit()
    facts.append(f"revision {commit}" if commit else "")
    return [fact for fact in facts if fact and not fact.startswith("0 ")]


def _days(dates: pd.Series) -> str:
    """The day of the last row, and of the first where it is another."""
    if dates.empty:
        return ""
    first, last = (date.fromisoformat(day) for day in (dates.min(), dates.max()))
    shown = f"{last.day} {last:%B %Y}"
    return shown if first == last else f"{first.day} {first:%B %Y} to {shown}"


def code_commit() -> str:
    """The git commit of this code; empty outside a repository."""
    try:
        commit = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit} with changes" if changed else commit


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.strip()


def datasets_section(prepared: Iterable[Prepared]) -> Section:
    """Size, source and licence of every dataset."""
    rows = [_dataset_row(dataset) for dataset in prepared]
    return Section("Data", _columns(rows))


def all_settings(runs: Sequence[Run]) -> list[Section]:
    """Every setting of each NPT, on every dataset and by default.

    Settings of a search show all values that were tried.
    """
    sections = []
    for method in NPTS:
        of_method = [run for run in runs if run.method == method and run.variant in WHOLE_METHODS]
        if of_method:
            sections.append(_settings_of(method, of_method))
    return sections


def _settings_of(method: str, runs: Sequence[Run]) -> Section:
    default = methods()[method].settings().model_dump(mode="json")
    columns = {"Setting": [text(name) for name in default]}
    tried: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        tried.setdefault(run.dataset, []).extend(run.trials.values() or [run.settings])
    for dataset, settings in tried.items():
        columns[dataset_title(dataset)] = [_values(settings, name, default) for name in default]
    columns["Default"] = [text(_plain(value)) for value in default.values()]
    title = f"All settings of {methods()[method].title}; in bold, those that are not the default"
    return Section(title, columns)


def _values(settings: Sequence[Mapping[str, Any]], name: str, default: Mapping[str, Any]) -> Cell:
    """The values of a setting, in the order in which they were tried."""
    values = dict.fromkeys(_plain(of_one.get(name, default[name])) for of_one in settings)
    shown = ", ".join(values)
    return emphasised(text(shown), shown != _plain(default[name]))


def _plain(value: Any) -> str:
    """A setting as the configuration writes it."""
    return json.dumps(value, default=str).replace('"', "")


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
        **_columns_of(prepared.table),
        "Train / validation / test": text(" / ".join(map(str, sizes))),
        "Source": text(", ".join(origins) or "generated"),
        "Licence": text(facts["licence"]),
        "Content": text(facts["content"][:16]),
    }


def _columns_of(table: Table) -> dict[str, Cell]:
    """Features, missing cells and target of a table."""
    kinds = [table.columns[column].kind for column in table.features]
    missing = sum(int(np.isnan(table.numbers(column)).sum()) for column in table.features)
    cells = table.rows * max(1, len(kinds))
    target = table.columns[table.target]
    truth = table.truth
    if target.kind == "continuous":
        of_target = f"mean {np.nanmean(truth):.3g}, SD {np.nanstd(truth):.3g}"
    else:
        shares = np.bincount(truth[~np.isnan(truth)].astype(int)) / table.rows
        largest = f"{100 * shares.max():.0f} % in the largest"
        of_target = f"{len(target.levels)} classes, {largest}"
    return {
        "Features": count(len(kinds)),
        "Categorical": count(kinds.count("categorical")),
        "Missing": percent(missing / cells, 1) if missing else text("none"),
        "Target": text(of_target),
    }


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    if not rows:
        return {}
    return {title: [row[title] for row in rows] for title in rows[0]}
