"""Writes results/reference/REPRODUCTION.md: every cell of the paper's tables, with its state."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

import pandas as pd

from npt.metrics import METRICS, PAPER_METRICS
from performance.reproduction.cells import TITLES, PublishedCell
from performance.reproduction.curves import curves
from performance.reproduction.quantity import Measured
from performance.reproduction.states import CellState, Result, State, cell_states
from performance.table_columns import markdown_of_cells
from workflow.config.scoring import Scoring
from workflow.report.cells import formatted, number
from workflow.report.published import SCALES, in_standard_errors, published_study
from workflow.report.statistics import t_quantile
from workflow.report.summary import REFERENCE
from workflow.report.titles import dataset_title, method_title
from workflow.studies import kinds

RELEASED_FOLDS = "_legacy"
BREAK = "<br>"
FAR = 2.0  # standard errors
HEAD = (
    "How to read a cell: [docs/reproduction.md](../../docs/reproduction.md). "
    "`python -m performance.reproduction.page` writes this page from the paper's printed numbers "
    "(`workflow/report/published.json`), the rows beside it, and the plans of the configurations."
)


def main() -> None:
    """Write the page."""
    path = REFERENCE / "REPRODUCTION.md"
    path.write_text(page(), encoding="utf-8")
    print(path)


def page() -> str:
    """All tables."""
    parts = ["# Cells of the paper's tables", HEAD, counts(), agreement()]
    parts += [paper_table(table) for table in TITLES]
    parts += ["## What is smaller", reductions()]
    parts += ["## Learning curves of NPT", curves()]
    parts += ["## Studies that plan cells", plans()]
    return "\n\n".join(parts) + "\n"


def counts() -> str:
    """Number of cells by table and state."""
    titles = ["Table", "cells", *(f"{state.value} {state.title}" for state in State)]
    rows = [_count_row("1 to 13", cell_states())]
    for table in TITLES:
        rows.append(_count_row(str(table), _of_table(table)))
    return markdown_of_cells(titles, rows)


def agreement() -> str:
    """How far the regenerated values are from the paper's, by folds."""
    titles = ["Folds", "state", "values", "within 1", f"within {FAR:g}", "beyond", "largest"]
    rows = []
    for folds, is_released in (("those of the released code", True), ("cross-validation", False)):
        for state in (State.REGENERATED, State.REDUCED):
            differences = _differences(state, is_released)
            if differences:
                rows.append([folds, state.title, *_spread(differences)])
    return markdown_of_cells(titles, rows)


def plans() -> str:
    """Studies that plan cells of the paper."""
    cells = Counter(state.planned.title for state in cell_states() if state.planned)
    rows = [[f"`{title}`", str(count)] for title, count in cells.items()]
    return markdown_of_cells(["Study", "cells"], rows)


def reductions() -> str:
    """What is smaller than in the paper, for each dataset and method."""
    titles = ["Rows", "dataset", "method", "smaller than in the paper", "planned at full size by"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for state in cell_states():
        for result in state.results:
            if not result.reductions or state.planned is None:
                continue
            measured = result.measured
            dataset = dataset_title(measured.dataset)
            method = method_title(measured.method, measured.variant)
            what = ", ".join(result.reductions)
            names = (f"`{result.source}`", dataset, method)
            rows[names] = [*names, what, f"`{state.planned.title}`"]
    return markdown_of_cells(titles, list(rows.values()))


def paper_table(table: int) -> str:
    """A table of the paper, each cell with state, values and source."""
    states = _of_table(table)
    marks = source_marks(states)
    columns = list(dict.fromkeys(state.cell.column for state in states))
    texts: dict[str, dict[str, str]] = {}
    for state in states:
        row = texts.setdefault(state.cell.row, {})
        row[state.cell.column] = cell_text(state, marks)
    rows = []
    for title, by_column in texts.items():
        rows.append([title, *(by_column.get(column, "") for column in columns)])
    parts = [
        f"## Table {table}",
        f"The paper's {TITLES[table]}.",
        markdown_of_cells(["", *columns], rows),
    ]
    if marks:
        sources = [f"{mark} `{source}`" for source, mark in marks.items()]
        parts.append(f"Sources: {', '.join(sources)}")
    reasons = dict.fromkeys(state.reason for state in states if state.reason)
    parts += [f"{State.IMPOSSIBLE.value} {reason}" for reason in reasons]
    if table == 1:
        parts.append(arithmetic())
    return "\n\n".join(parts)


def source_marks(states: Iterable[CellState]) -> dict[str, str]:
    """A letter for every source of the cells."""
    sources = []
    for state in states:
        sources += cell_sources(state)
    marks = zip(dict.fromkeys(sources), ascii_lowercase, strict=False)
    return {source: f"<sup>{letter}</sup>" for source, letter in marks}


def cell_sources(state: CellState) -> list[str]:
    """Sources of a cell's values; without values, the study that plans it."""
    if state.results:
        return [result.source for result in state.results]
    return [state.planned.title] if state.planned else []


def recomputed_ranks() -> pd.DataFrame:
    """Mean ranks of the paper's printed results."""
    scoring = Scoring(PAPER_METRICS, "paper")
    return kinds()["benchmark"].table("ranks", published_study(), scoring).tidy


def rank_texts(ranks: pd.DataFrame) -> dict[str, str]:
    """Mean ranks with standard errors by title of the method."""
    texts = {}
    for row in ranks.to_dict("records"):
        cell = number(row["mean_rank"], 2, error=row["standard_error"])
        texts[method_title(row["method"], "base")] = cell.text.replace(" ", "")
    return texts


def arithmetic() -> str:
    """How many cells of Table 1 follow from the paper's own Tables 8, 10 and 11."""
    recomputed = recomputed_ranks()
    equal = 0
    states = _of_table(1)
    for _, ranks in recomputed.groupby("task"):
        texts = rank_texts(ranks)
        metric = ranks["metric"].iloc[0]
        for state in states:
            cell = state.cell
            if cell.column == METRICS[metric].title:
                equal += texts[cell.row] == cell.printed
    return (
        f"Recomputed from the paper's own Tables 8, 10 and 11, {equal} of {len(states)} cells are "
        "equal to the last digit ([ranks](../../docs/tables.md#ranks)). This checks the "
        "arithmetic and regenerates no result."
    )


def cell_text(state: CellState, marks: Mapping[str, str]) -> str:
    """The symbol and the paper's value, then values from here with their symbols and sources."""
    cell = state.cell
    printed = f"{state.state.value} {cell.printed.replace('±', ' ± ')}"
    if state.results:
        lines = [printed]
        for result in state.results:
            text = _result_text(cell, result)
            lines.append(f"{result.state.value} {text} {marks[result.source]}")
        return BREAK.join(lines)
    if state.planned:
        return f"{printed} {marks[state.planned.title]}"
    return printed


def difference(cell: PublishedCell, measured: Measured) -> float:
    """Difference from the paper in standard errors; NaN where it is not defined."""
    scale = _scale(cell)
    return in_standard_errors(
        measured.value / scale, measured.error / scale, cell.value, cell.error
    )


def _result_text(cell: PublishedCell, result: Result) -> str:
    measured = result.measured
    scale = _scale(cell)
    text = number(measured.value / scale, cell.digits, error=measured.error / scale).text
    if cell.printed.endswith("%"):
        text += " %"
    errors = difference(cell, measured)
    if not math.isnan(errors):
        shown = formatted(errors, 1, sign=True)
        bound = t_quantile(pd.Series([measured.folds])).item()
        text += f" (**{shown}**)" if abs(errors) > bound else f" ({shown})"
    return text


def _scale(cell: PublishedCell) -> float:
    """Size of the unit that the paper prints."""
    assert cell.quantity is not None
    return SCALES.get(cell.quantity.metric, 1.0)


def _of_table(table: int) -> list[CellState]:
    return [state for state in cell_states() if state.cell.table == table]


def _count_row(title: str, states: Iterable[CellState]) -> list[str]:
    found = [state.state for state in states]
    numbers = [str(found.count(state)) for state in State]
    return [title, str(len(found)), *numbers]


def _differences(state: State, is_released: bool) -> list[float]:
    """Sizes of the defined differences of values in a state, on one sort of folds."""
    differences = []
    for cell_state in cell_states():
        for result in cell_state.results:
            is_on_these = result.measured.dataset.endswith(RELEASED_FOLDS) is is_released
            if is_on_these and result.state is state:
                differences.append(abs(difference(cell_state.cell, result.measured)))
    return [errors for errors in differences if not math.isnan(errors)]


def _spread(differences: list[float]) -> list[str]:
    within_one = sum(errors <= 1 for errors in differences)
    within = sum(errors <= FAR for errors in differences)
    beyond = len(differences) - within
    counted = [len(differences), within_one, within, beyond]
    return [*map(str, counted), formatted(max(differences), 1)]


if __name__ == "__main__":
    main()
