"""Tables of the reference studies under `results/reference` and of the paper, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from npt.metrics import METRICS, PAPER_METRICS
from npt.table import TASKS
from performance.tables import markdown_of_cells
from workflow.config.scoring import Ranking, Scoring
from workflow.report.published import published, published_study
from workflow.report.section import TASK_TITLES
from workflow.report.tables import TABLES
from workflow.report.titles import method_title
from workflow.results.study_file import read_study

REFERENCE = Path(__file__).parents[1] / "results" / "reference"
SCORING = Scoring(PAPER_METRICS)
Columns = dict[str, dict[Any, Any]]
"""Text by method, by title of the column."""


def study_table(name: str) -> str:
    """A table by its name in the documents, `STUDY TABLE`: its sections with titles and notes."""
    study, _, table = name.partition(" ")
    if table == "primary":
        return primary_metrics(study)
    if table == "lost":
        return lost_skill(study)
    return _sections(TABLES[table](reference_study(study), SCORING).sections)


def reference_study(study: str) -> pd.DataFrame:
    """Rows of a study under `results/reference`."""
    return read_study(REFERENCE / f"{study}.csv")


def primary_metrics(study: str) -> str:
    """Test metrics of all methods, the primary one of each task, side by side."""
    sections = TABLES["metrics"](reference_study(study), SCORING).sections
    columns: Columns = {}
    for task in TASKS:
        metric = METRICS[SCORING.metrics[task]].title
        start = f"{TASK_TITLES[task]}: test {metric} "
        (section,) = [section for section in sections if section.title.startswith(start)]
        by_method = section.cells.set_index("Method")
        for dataset in by_method:
            columns[f"{dataset}, {metric}"] = by_method[dataset].to_dict()
    return _by_method(columns)


def lost_skill(study: str) -> str:
    """Fraction of each method's skill that is lost without other rows, by dataset."""
    columns: Columns = {}
    for section in TABLES["dose_response"](reference_study(study), SCORING).sections:
        for dataset, cells in section.cells.groupby("Dataset", sort=False):
            by_method = cells.set_index("Method")
            columns[f"{dataset}, shuffled"] = by_method["Lost, shuffled"].to_dict()
            columns[f"{dataset}, deleted"] = by_method["Lost, deleted"].to_dict()
    return _by_method(columns)


def paper_ranks() -> str:
    """The paper's Table 1 recomputed from its Tables 8, 10 and 11 with both ranking conventions."""
    columns: Columns = {}
    by_paper = _recomputed_ranks("paper")
    shared = _recomputed_ranks("shared")
    for task, metric in PAPER_METRICS.items():
        title = f"{TASK_TITLES[task]} ({METRICS[metric].title})"
        columns[f"{title}, printed"] = _printed_ranks(metric)
        columns[f"{title}, its conventions"] = _titled(by_paper[by_paper["task"] == task])
        columns[f"{title}, shared ranks"] = _titled(shared[shared["task"] == task])
    return _by_method(columns)


def _recomputed_ranks(ranking: Ranking) -> pd.DataFrame:
    scoring = Scoring(PAPER_METRICS, ranking)
    return TABLES["ranks"](published_study(), scoring).tidy


def _printed_ranks(metric: str) -> dict[str, str]:
    """Ranks of the paper's Table 1 by title of the method."""
    printed = {}
    ranks = published()["table_1_average_rank"][metric]["rank"]
    for method, cell in ranks.items():
        printed[method_title(method, "base")] = cell["printed"]
    return printed


def _titled(ranks: pd.DataFrame) -> dict[str, str]:
    """Mean ranks with standard errors by title of the method."""
    texts = {}
    for _, row in ranks.iterrows():
        title = method_title(row["method"], "base")
        texts[title] = f"{row['mean_rank']:.2f}±{row['standard_error']:.2f}"
    return texts


def paper_tests() -> str:
    """Friedman's and Nemenyi's tests of the paper's printed results."""
    return _sections(TABLES["rank_tests"](published_study(), SCORING).sections)


PAPER: dict[str, Callable[[], str]] = {
    "paper ranks": paper_ranks,
    "paper tests": paper_tests,
}


def _by_method(columns: Columns) -> str:
    """A table with a row for every method of the first column."""
    methods = next(iter(columns.values()))
    rows = []
    for method in methods:
        texts = [column[method] for column in columns.values()]
        rows.append([method, *texts])
    return markdown_of_cells(["Method", *columns], rows)


def _sections(sections: Iterable[Any]) -> str:
    parts = []
    for section in sections:
        parts.append(f"**{section.title}**")
        parts.append(section.markdown())
        parts.extend(section.notes)
    return "\n\n".join(parts)
