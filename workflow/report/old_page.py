"""The page: everything a study shows in one HTML file that opens without a network."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from npt.data import store
from workflow.config.folds import format_folds
from workflow.config.scoring import Scoring
from workflow.report.findings import answer
from workflow.report.headline import headline
from workflow.report.old_html import rendered
from workflow.report.section import Section
from workflow.report.summary import dataset_title, method_title, why_no_result
from workflow.report.tables import TABLES
from workflow.results.row import UNFINISHED
from workflow.studies.kinds import FIGURE_ENDINGS, KINDS, TABLE_ENDINGS

CAPTIONS = Path(__file__).with_name("captions")


@dataclass(frozen=True)
class ShownFigure:
    """A figure: its file's name, caption, PNG as a data address, and size in CSS pixels."""

    name: str
    caption: str
    image: str
    width: int
    height: int


@dataclass(frozen=True)
class ShownTable:
    """A table by its name in file names: sections in order, in groups that a title hides unless it is empty."""

    name: str
    groups: Sequence[tuple[str, Sequence[Section]]]


@dataclass(frozen=True)
class ShownStudy:
    """A study as the page shows it; a `twin` shares its title with another."""

    name: str
    title: str
    twin: bool
    answer: str
    figures: Sequence[ShownFigure]
    tables: Sequence[ShownTable]


def render(
    studies: Mapping[str, pd.DataFrame], kinds: Mapping[str, str], scoring: Scoring, preset: str, results: Path,
    prepared: Sequence[store.Prepared], remarks: Sequence[str] | None = None,
) -> str:  # fmt: skip
    """HTML of the page from the collected studies, the figures drawn and the prepared datasets.

    A page that is made before the end has `remarks` of what is amiss beside the rows, and lies one folder deeper.
    """
    shown = {
        name: frame for name, frame in studies.items() if (frame["status"] != UNFINISHED).any()
    }
    return rendered(
        "old_page.html.j2",
        preset=preset,
        missing=None
        if remarks is None
        else sum(int((one["status"] == UNFINISHED).sum()) for one in studies.values()),
        raw=".." if remarks is None else "../..",
        headline=headline(shown, kinds, scoring),
        studies=[_shown(name, frame, kinds, scoring, results) for name, frame in shown.items()],
        endings={"figures": FIGURE_ENDINGS, "tables": TABLE_ENDINGS},
        datasets=_datasets(prepared),
        custom_datasets=[
            one.facts["description"] for one in prepared if "description" in one.facts
        ],
        settings=_settings(shown),
        versions=_versions(shown),
        failures=[*(remarks or ()), *_failures(studies, scoring)],
        starred=any(
            dataset_title(name).endswith("*")
            for frame in studies.values()
            for name in frame["dataset"].unique()
        ),
    )


def caption(figure: str) -> str:
    """What a figure shows, in a sentence or two."""
    return " ".join((CAPTIONS / f"{figure}.rst").read_text().split())


def _shown(
    name: str, frame: pd.DataFrame, kinds: Mapping[str, str], scoring: Scoring, results: Path
) -> ShownStudy:
    kind = KINDS[kinds[name]]
    figures = [_figure(f"{name}.{figure}", caption(figure), results) for figure in kind.figures]
    tables = [
        ShownTable(table, _groups(TABLES[table](frame, scoring).sections)) for table in kind.tables
    ]
    twin = list(kinds.values()).count(kinds[name]) > 1
    return ShownStudy(name, kind.title, twin, answer(frame, kinds[name], scoring), figures, tables)


def _groups(sections: Sequence[Section]) -> list[tuple[str, Sequence[Section]]]:
    """Open sections one by one, then those of each fold together."""
    folds = dict.fromkeys(section.fold for section in sections if section.fold)
    opened: list[tuple[str, Sequence[Section]]] = [
        ("", [section for section in sections if not section.fold])
    ]
    return opened + [
        (fold + ("" if len(own) == 1 else f" ({len(own)} tables)"), own)
        for fold in folds
        if (own := [section for section in sections if section.fold == fold])
    ]


def _figure(stem: str, text: str, results: Path) -> ShownFigure:
    content = (results / "figures" / f"{stem}.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    return ShownFigure(
        stem,
        text,
        f"data:image/png;base64,{base64.b64encode(content).decode()}",
        width // 2,
        height // 2,
    )


def _datasets(prepared: Sequence[store.Prepared]) -> list[dict[str, str]]:
    rows = []
    for one in prepared:
        split = next(iter(one.splits.values()))
        rows.append(
            {
                "Dataset": dataset_title(one.facts["name"]),
                "Task": one.table.task,
                "Rows": f"{one.table.rows:,}",
                "Columns": str(len(one.table.columns)),
                "Train / validation / test": f"{len(split.train)} / {len(split.validation)} / {len(split.test)}",
                "From": ", ".join(
                    f"{name} ({origin})" for name, origin in one.facts["origins"].items()
                )
                or "generated",
                "Licence": one.facts["licence"],
                "Content": one.facts["content"][:16],
            }
        )
    return rows


def _settings(studies: Mapping[str, pd.DataFrame]) -> list[dict[str, str]]:
    """Most frequent choice of every method on every dataset."""
    rows, seen = [], set()
    for frame in studies.values():
        if "chosen" not in frame:
            continue
        keys = ["dataset", "method", "variant"]
        for (dataset, method, variant), group in frame.dropna(subset=["chosen"]).groupby(
            keys, sort=False
        ):
            if (dataset, method, variant) in seen:
                continue
            seen.add((dataset, method, variant))
            rows.append(
                {
                    "Dataset": dataset_title(str(dataset)),
                    "Method": method_title(str(method), str(variant)),
                    "Chosen most often": _most_often(
                        [json.loads(chosen) for chosen in group["chosen"]]
                    ),
                }
            )
    return rows


def _most_often(chosen: list[dict[str, Any]]) -> str:
    """What most folds chose, and how many did; the update that the best weights come from is each fold's own."""
    texts = [
        ", ".join(f"{key} {value}" for key, value in one.items() if key != "update")
        for one in chosen
    ]
    updates = [one["update"] for one in chosen if "update" in one]
    most = max(texts, key=texts.count)
    parts = [f"{most} ({texts.count(most)} of {len(texts)} folds)"] if most else []
    parts += [f"best weights after {min(updates)} to {max(updates)} updates"] if updates else []
    return "; ".join(parts)


def _versions(studies: Mapping[str, pd.DataFrame]) -> list[str]:
    """Versions, devices and code of all rows; more than one line of versions where machines differ."""
    columns = ["method", "versions", "revision", "device", "source"]
    rows = pd.concat([frame.reindex(columns=columns) for frame in studies.values()])
    made = [json.loads(versions) for versions in rows["versions"].dropna().unique()]
    lines = [
        f"Made with {', '.join(f'{name} {version}' for name, version in one.items())}."
        for one in made
    ]
    lines.append(
        f"On {', '.join(sorted(set(rows['device'].dropna().astype(str)))) or 'an unknown device'}."
    )
    known = rows.dropna(subset="revision").groupby("method", sort=False)["revision"]
    code = {method: ", ".join(part.astype(str).unique()) for method, part in known}
    for source, part in rows.dropna(subset="source").groupby("source", sort=False):
        lines.append(
            f"Rows of {', '.join(part['method'].unique())} were made elsewhere and come from {source}."
        )
    return [
        *lines,
        f"Code of the methods, as hashes: {'; '.join(f'{method} {known}' for method, known in code.items())}.",
    ]


def _failures(studies: Mapping[str, pd.DataFrame], scoring: Scoring) -> list[str]:
    """Rows without a result, and results whose metric is undefined, with the reason: a line for the folds that share one."""
    found: dict[tuple[str, str], list[int]] = {}
    for name, frame in studies.items():
        for row in frame.to_dict("records"):
            if reason := why_no_result(row, scoring.metrics[row["task"]]):
                which = f"{name}: {row['method']} ({row['variant']}) on {row['dataset']}"
                found.setdefault((which, reason), []).append(row["fold"])
    return [
        f"{which}, fold{'' if len(folds) == 1 else 's'} {format_folds(folds).replace('_', ', ')}: {reason}"
        for (which, reason), folds in found.items()
    ]
