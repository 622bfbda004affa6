"""The page: everything a study shows in one HTML file that opens without a network."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from npt.datasets import store
from workflow.choices import Choices
from workflow.report.answer import answer
from workflow.report.section import Section
from workflow.report.summary import dataset_title, method_title
from workflow.report.tables import TABLES
from workflow.studies import KINDS

FIGURE_CAPTIONS = {
    "ranks": "Mean rank of each method over the datasets of a task, with its standard error over datasets. "
    "Further left is better.",
    "metrics": "Each bar of grey is one fold; the mark is their mean and the line its standard error.",
    "ablation": "How much a test metric changes when one part of the model is taken away or altered, in percent of the whole "
    "model's. A part whose mark is at zero is not missed.",
    "corruption": "How much worse a model predicts a row after every column of all other rows has been shuffled; left of zero "
    "is worse. At zero it did not use what they say.",
    "dose_response": "The test error as more and more of the other rows are shuffled (left) or taken away (right); the dotted "
    "line is a prediction that looks at no features. A flat line is a model that needs no other row, one that climbs to the "
    "dotted line has its skill from them.",
    "deletion": "From each probed row's context other rows were deleted until its prediction would have moved; each mark is "
    "one probed row. Below the diagonal, the rows that it could not spare are nearer to it than those it could.",
    "attention": "Each line is a probed test row, and from left to right are the other rows from the nearest to the farthest; "
    "orange gets more attention than the mean and purple less. A head that looks near is orange on the left.",
    "intervention": "For each of up to twenty rows, what NPT predicts for it as the target of its duplicate is set to other "
    "values. A line along the dotted one reads the duplicate's target and nothing else; a flat one does not look at it.",
}
KIND_TITLES = {
    "benchmark": "How good are the methods?",
    "ablation": "What does each part of NPT contribute?",
    "corruption": "Do models use other datapoints?",
    "dose_response": "How much of the skill comes from other datapoints?",
    "deletion": "Which datapoints does a prediction need?",
    "attention": "Whom do the heads look at?",
    "lookup": "Can NPT look another row up?",
}


@dataclass(frozen=True)
class ShownStudy:
    """A study as the page shows it; figures are (name, caption, PNG as a data address)."""

    name: str
    title: str
    sections: Sequence[Section]
    figures: Sequence[tuple[str, str, str]]


def render(
    studies: Mapping[str, pd.DataFrame], kinds: Mapping[str, str], choices: Choices, preset: str, results: Path,
    prepared: Sequence[store.Prepared],
) -> str:  # fmt: skip
    """HTML of the page from the collected studies, the figures drawn and the prepared datasets."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=select_autoescape(["html", "j2"]), undefined=StrictUndefined
    )
    environment.filters["table"] = _table
    environment.filters["note"] = _note
    shown = [_shown(name, frame, kinds[name], choices, results) for name, frame in studies.items()]
    return environment.get_template("page.html.j2").render(
        preset=preset,
        answers=[answer(frame, kinds[name], choices) for name, frame in studies.items()],
        studies=shown,
        datasets=_datasets(prepared),
        own_tables=[one.facts["description"] for one in prepared if "description" in one.facts],
        settings=_settings(studies),
        versions=_versions(studies),
        failures=_failures(studies),
        starred=any(dataset_title(p.facts["name"]).endswith("*") for p in prepared),
    )


def _shown(name: str, frame: pd.DataFrame, kind: str, choices: Choices, results: Path) -> ShownStudy:
    sections = [section for table in KINDS[kind].tables for section in TABLES[table](frame, choices).sections]
    figures = []
    for figure in KINDS[kind].figures:
        content = base64.b64encode((results / "figures" / f"{name}.{figure}.png").read_bytes()).decode()
        figures.append((f"{name}.{figure}", FIGURE_CAPTIONS[figure], f"data:image/png;base64,{content}"))
    return ShownStudy(name, KIND_TITLES[kind], sections, figures)


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
                "From": ", ".join(f"{name} ({origin})" for name, origin in one.facts["origins"].items()) or "generated",
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
        for (dataset, method, variant), group in frame.dropna(subset=["chosen"]).groupby(keys, sort=False):
            if (dataset, method, variant) in seen:
                continue
            seen.add((dataset, method, variant))
            rows.append(
                {
                    "Dataset": dataset_title(str(dataset)),
                    "Method": method_title(str(method), str(variant)),
                    "Chosen most often": _most_often([json.loads(chosen) for chosen in group["chosen"]]),
                }
            )
    return rows


def _most_often(chosen: list[dict[str, Any]]) -> str:
    """What most folds chose, and how many did; the update that the best weights come from is each fold's own."""
    texts = [", ".join(f"{key} {value}" for key, value in one.items() if key != "update") for one in chosen]
    updates = [one["update"] for one in chosen if "update" in one]
    most = max(texts, key=texts.count)
    parts = [f"{most} ({texts.count(most)} of {len(texts)} folds)"] if most else []
    parts += [f"best weights after {min(updates)} to {max(updates)} updates"] if updates else []
    return "; ".join(parts)


def _versions(studies: Mapping[str, pd.DataFrame]) -> str:
    versions = json.loads(next(iter(studies.values()))["versions"].iloc[0])
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _failures(studies: Mapping[str, pd.DataFrame]) -> list[str]:
    return [
        f"{name}: {row.method} ({row.variant}) on {row.dataset}, fold {row.seed}: {row.reason}"
        for name, frame in studies.items()
        for row in frame[frame["status"] != "ok"].itertuples()
    ]


def _table(rows: pd.DataFrame | list[dict[str, str]]) -> Markup:
    """An HTML table; text set in bold by ** stays so."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    head = Markup("").join(Markup("<th scope='col'>{}</th>").format(name) for name in frame.columns)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_bold(str(cell))) for cell in row))
        for row in frame.itertuples(index=False)
    )
    return Markup("<div class='wide'><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>").format(head, body)


def _note(text: str) -> Markup:
    """A table's note, in which `names` are set as code."""
    parts = text.replace("\\*", "*").split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts))


def _bold(text: str) -> Markup:
    if text.startswith("**") and text.endswith("**") and len(text) > 4:
        return Markup("<strong>{}</strong>").format(text[2:-2])
    return escape(text)
