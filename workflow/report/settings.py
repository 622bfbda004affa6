"""The report's tables of settings: what was chosen, and every setting of the NPTs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from baselines import methods
from workflow.planning.run import Run
from workflow.report.cells import Cell, emphasised, text
from workflow.report.published import WHOLE_METHODS
from workflow.report.sections import Section
from workflow.report.statistics import MODEL
from workflow.report.titles import NPTS, dataset_title, method_title, titles_of
from workflow.studies.error_columns import columns_of

Settings = Mapping[str, Any]


def settings_section(studies: Iterable[pd.DataFrame]) -> Section:
    """What each method chose most often on each dataset."""
    rows = []
    for (dataset, title), chosen in _chosen_settings(studies).items():
        row = {
            "Dataset": text(dataset),
            "Method": text(title),
            "Chosen most often": text(most_frequent(chosen)),
        }
        rows.append(row)
    return Section("Settings", columns_of(rows))


def most_frequent(chosen: Sequence[dict[str, Any]]) -> str:
    """The most frequent settings, and the range of updates that the weights come from."""
    shown = [_shown_settings(settings) for settings in chosen]
    counts = Counter(shown)
    most, times = counts.most_common(1)[0]
    parts = []
    if most:
        parts.append(f"{most} ({times} of {len(shown)} trainings)")
    updates = [settings["update"] for settings in chosen if "update" in settings]
    if updates:
        parts.append(f"best weights after {min(updates)} to {max(updates)} updates")
    return "; ".join(parts)


def _chosen_settings(
    studies: Iterable[pd.DataFrame],
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Settings of every fold by titles of dataset and method, from the first study that has it."""
    settings = {}
    for study in studies:
        if "chosen" not in study:
            continue
        searched = study.dropna(subset=["chosen"])
        for (dataset, method, variant), rows in searched.groupby(MODEL, sort=False):
            chosen = [json.loads(line) for line in rows["chosen"]]
            with titles_of(rows):
                names = (dataset_title(str(dataset)), method_title(str(method), str(variant)))
            settings.setdefault(names, chosen)
    return settings


def _shown_settings(settings: dict[str, Any]) -> str:
    """All settings but the update that the best weights come from, which each fold has its own."""
    pairs = [f"{key} {value}" for key, value in settings.items() if key != "update"]
    return ", ".join(pairs)


def all_settings(runs: Sequence[Run]) -> list[Section]:
    """Every setting of each NPT, on every dataset and by default.

    Settings of a search show all values that were tried.
    """
    sections = []
    for method in NPTS:
        tried: dict[str, list[Settings]] = {}
        for run in runs:
            if run.method == method and run.variant in WHOLE_METHODS:
                of_run = run.trials.values() or [run.settings]
                tried.setdefault(run.dataset, []).extend(of_run)
        if tried:
            sections.append(_settings_of(method, tried))
    return sections


def _settings_of(method: str, tried: Mapping[str, Sequence[Settings]]) -> Section:
    """A row for each setting, and a column for each dataset."""
    declared = methods()[method]
    default = declared.settings().model_dump(mode="json")
    columns = {"Setting": [text(name) for name in default]}
    for dataset, settings in tried.items():
        cells = []
        for name, value in default.items():
            values = [of_one.get(name, value) for of_one in settings]
            cells.append(_values(values, value))
        columns[dataset_title(dataset)] = cells
    columns["Default"] = [text(_plain(value)) for value in default.values()]
    return Section(
        f"All settings of {declared.title}; in bold, those that are not the default",
        columns,
    )


def _values(values: Iterable[Any], default: Any) -> Cell:
    """Each value once, in the order in which they were tried; bold beside another default."""
    different = dict.fromkeys(map(_plain, values))
    shown = ", ".join(different)
    return emphasised(text(shown), shown != _plain(default))


def _plain(value: Any) -> str:
    """A setting as the configuration writes it."""
    written = json.dumps(value, default=str)
    return written.replace('"', "")
