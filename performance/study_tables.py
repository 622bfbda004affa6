"""Tables of the reference studies under `results/reference` and of the paper, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

from npt.metrics import METRICS, PAPER_METRICS
from performance.positions import treatments
from performance.table_columns import markdown_of_cells
from workflow.config.scoring import Ranking, Scoring
from workflow.report.cells import Cell, number
from workflow.report.markdown import markdown_table
from workflow.report.published import published, published_study
from workflow.report.sections import Section, Table
from workflow.report.titles import TASK_TITLES, method_title
from workflow.results.study_file import read_study
from workflow.studies import kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
SCORING = Scoring(PAPER_METRICS)
Columns = Mapping[str, Mapping[str, str]]
"""Text by method, by title of the column."""


def study_table(name: str) -> str:
    """A table by its name in the documents, `STUDY TABLE`: its sections with titles and notes."""
    study, _, table = name.partition(" ")
    if table == "effects":
        return effects_of_doses(study)
    if table == "treatments":
        return _sections(treatments(reference_study(study)))
    return _sections(table_of(reference_study(study), table))


def reference_study(study: str) -> pd.DataFrame:
    """Rows of a study under `results/reference`, with those that its configuration refers to."""
    config = _config_of(study)
    name = study.partition("/")[2]
    parts = [read_study(REFERENCE / f"{study}.csv")]
    for external in config["studies"].get(name, {}).get("external_results", []):
        rows = read_study(ROOT / external)
        is_taken = rows["method"].isin(config["methods"])
        parts.append(rows[is_taken])
    return pd.concat(parts, ignore_index=True)


def _config_of(study: str) -> dict[str, Any]:
    """Configuration of a reference study."""
    folder = study.partition("/")[0]
    return yaml.safe_load((REFERENCE / folder / "config.yaml").read_text())


def table_of(study: pd.DataFrame, name: str, scoring: Scoring = SCORING) -> Table:
    """A table of the first study kind that has one of that name."""
    kind = next(kind for kind in kinds().values() if name in kind.tables)
    return kind.table(name, study, scoring)


def figure_of(name: str) -> Figure:
    """A figure by its name in the documents, `STUDY FIGURE`."""
    study, _, figure = name.partition(" ")
    study_name = study.partition("/")[2]
    declared = _config_of(study)["studies"][study_name]
    kind = kinds()[declared["kind"]]
    return kind.figure(figure, reference_study(study), SCORING)


def effects_of_doses(study: str) -> str:
    """Effects on each method of the largest doses, by dataset."""
    (section,) = table_of(reference_study(study), "dose_response").sections
    datasets = [cell.text for cell in section.columns["Dataset"]]
    columns: dict[str, dict[str, str]] = {}
    for dataset in dict.fromkeys(datasets):
        for perturbed in ("shuffled", "deleted"):
            methods, texts = _pairs(section, f"Effect, {perturbed}")
            column = {}
            for name, method, text in zip(datasets, methods, texts, strict=True):
                if name == dataset:
                    column[method] = text
            columns[f"{dataset}, {perturbed}"] = column
    return _methods_table(columns)


def paper_ranks() -> str:
    """The paper's Table 1 recomputed from its Tables 8, 10 and 11 with both ranking conventions."""
    columns = {}
    by_paper = recomputed_ranks("paper")
    shared = recomputed_ranks("shared")
    for task, metric in PAPER_METRICS.items():
        title = f"{TASK_TITLES[task]} ({METRICS[metric].title})"
        columns[f"{title}, printed"] = _printed_ranks(metric)
        of_paper = by_paper[by_paper["task"] == task]
        columns[f"{title}, its conventions"] = rank_texts(of_paper)
        of_shared = shared[shared["task"] == task]
        columns[f"{title}, shared ranks"] = rank_texts(of_shared)
    return _methods_table(columns)


def recomputed_ranks(ranking: Ranking) -> pd.DataFrame:
    """Mean ranks of the paper's printed results."""
    scoring = Scoring(PAPER_METRICS, ranking)
    return table_of(published_study(), "ranks", scoring).tidy


def _printed_ranks(metric: str) -> dict[str, str]:
    """Ranks of the paper's Table 1 by title of the method."""
    printed = {}
    ranks = published()["table_1_average_rank"][metric]["rank"]
    for method, cell in ranks.items():
        printed[method_title(method, "base")] = cell["printed"]
    return printed


def rank_texts(ranks: pd.DataFrame) -> dict[str, str]:
    """Mean ranks with standard errors by title of the method."""
    texts = {}
    for _, row in ranks.iterrows():
        title = method_title(row["method"], "base")
        cell = number(row["mean_rank"], 2, error=row["standard_error"])
        texts[title] = cell.text.replace(" ", "")
    return texts


def paper_tests() -> str:
    """Friedman's and Nemenyi's tests of the paper's printed results."""
    return _sections(table_of(published_study(), "rank_tests"))


PAPER: dict[str, Callable[[], str]] = {
    "paper ranks": paper_ranks,
    "paper tests": paper_tests,
}


def _pairs(section: Section, title: str) -> tuple[list[str], list[str]]:
    """Methods and texts of a column."""
    methods = [cell.text for cell in section.columns["Method"]]
    texts = [_text(cell) for cell in section.columns[title]]
    return methods, texts


def _text(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.bold else cell.text


def _methods_table(columns: Columns) -> str:
    """A table with a row for every method of the first column."""
    methods = next(iter(columns.values()))
    rows = []
    for method in methods:
        texts = [column[method] for column in columns.values()]
        rows.append([method, *texts])
    return markdown_of_cells(["Method", *columns], rows)


def _sections(table: Table) -> str:
    parts = []
    for section in table.sections:
        parts.append(f"**{section.title}**")
        parts.append(markdown_table(section))
        parts.extend(section.notes)
    return "\n\n".join(parts)
