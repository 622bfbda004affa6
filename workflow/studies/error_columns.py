"""Columns of cells that the tables of several kinds have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd

from npt.table import Task
from workflow.report.cells import (
    MISSING,
    Cell,
    emphasised,
    followed_by,
    metric_decimals,
    number,
    p_value,
    percent,
    text,
)
from workflow.report.rank_tests import tests_over_datasets
from workflow.report.sections import Section, Table, failure_notes
from workflow.report.statistics import LEVEL, METHOD, by_model
from workflow.report.titles import dataset_title, method_title, method_titles
from workflow.studies.errors import effect_cell

MEANS_NOTE = (
    "The geometric mean over datasets of the factor of RMSE, or the mean increase of the NLL in "
    "nats per row"
)
OVER_DATASETS_NOTE = (
    MEANS_NOTE + ", and the datasets that are worse. p is of two-sided sign-flip permutation tests "
    "over datasets, with Holm's correction for the {models}, by task."
)


def model_columns(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Dataset and method of a frame with a row per model."""
    return columns_of([model_cells(row) for row in frame.to_dict("records")])


def model_cells(row: Mapping[Any, Any] | pd.Series) -> dict[str, Cell]:
    """Dataset and method of a row."""
    return {
        "Dataset": text(dataset_title(row["dataset"])),
        "Method": text(method_title(row["method"], row["variant"])),
    }


def probe_table(
    study: pd.DataFrame,
    means: pd.DataFrame,
    title: str,
    rows: Sequence[Mapping[str, Cell]],
    *notes: str,
) -> Table:
    """A table of one section; models without a result have a reason below it.

    Args:
        means: The tidy frame, which gets a row for each of these models.
        rows: Cells by column title.
    """
    models = pd.DataFrame([model.facts() for model in by_model(study)])
    failed = models[models["reason"] != ""]
    tidy = means.assign(reason="")
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    section = Section(title, columns_of(rows), (*notes, *failure_notes(models)))
    return Table(tidy, (section,))


def model_table(
    tidy: pd.DataFrame,
    title: str,
    columns: Mapping[str, list[Cell]],
    notes: Iterable[str],
    optional: Iterable[str] = (),
) -> Table:
    """A table of one section with a row per model, and the reasons of missing results below it.

    Args:
        columns: Cells by column title, without the dataset and the method.
        optional: Titles of columns that are left out if they have only dashes.
    """
    all_columns = {**model_columns(tidy), **columns}
    section = Section(title, all_columns, (*notes, *failure_notes(tidy)))
    return Table(tidy, (section.without_empty(*optional),))


def effects_over_datasets(
    tidy: pd.DataFrame, title: str, effects: Mapping[str, str], by: Mapping[str, str] | None = None
) -> list[Section]:
    """A section of mean effects over at least six regressions, or classifications, with tests.

    Args:
        tidy: A row per dataset and model, with its `task`.
        effects: Titles by the columns of the effects.
        by: Titles by further columns that name a row.
    """
    by = by or {}
    tidy = tidy.assign(tables=kinds_of_tables(tidy))
    keys = [*METHOD, *by, "tables"]
    groups = pd.MultiIndex.from_frame(tidy[keys].drop_duplicates())
    by_effect = {}
    for name in effects:
        tests = tests_over_datasets(tidy, keys, name, [*by, "tables"])
        by_effect[name] = tests.set_index(keys).reindex(groups)
    tested = pd.concat(by_effect, axis=1).dropna(how="all")
    if tested.empty:
        return []
    rows = tested.index.to_frame(index=False)
    columns = {"Method": texts(method_titles(rows))}
    for name, heading in {**by, "tables": "Datasets"}.items():
        columns[heading] = texts(rows[name])
    for name, heading in effects.items():
        tests = tested[name].reset_index()
        cells = []
        for row in tests.to_dict("records"):
            worse = f" ({row['positive']:.0f} of {row['datasets']:.0f})"
            task: Task = "regression" if row["tables"] == "regressions" else "binary"
            cells.append(followed_by(effect_cell(row["mean"], task), worse))
        columns[heading] = cells
        columns[f"p, {heading.lower()}"] = p_values(tests["p_value"])
    models = " of each ".join(["models", *map(str.lower, by.values())])
    return [Section(title, columns, (OVER_DATASETS_NOTE.format(models=models),))]


def kinds_of_tables(tidy: pd.DataFrame) -> pd.Series:
    """What the datasets of rows are."""
    return (tidy["task"] == "regression").map({True: "regressions", False: "classifications"})


def texts(contents: Iterable[str]) -> list[Cell]:
    """A column of plain text."""
    return list(map(text, contents))


def numbers(
    values: Iterable[float],
    digits: int,
    *,
    sign: bool = False,
) -> list[Cell]:
    """A column of numbers."""
    return [number(value, digits, sign=sign) for value in values]


def with_errors(
    frame: pd.DataFrame,
    column: str,
    digits: int | None = None,
    *,
    error: str = "standard_error",
    sign: bool = False,
) -> list[Cell]:
    """A column of means with standard errors; `digits` default to those of a metric.

    Args:
        error: Column of the standard errors.
    """
    cells = []
    pairs = zip(frame[column], frame[error], strict=True)
    for mean, standard_error in pairs:
        places = metric_decimals(mean) if digits is None else digits
        cell = number(mean, places, error=standard_error, sign=sign)
        cells.append(cell)
    return cells


def percents(fractions: Iterable[float], digits: int = 0) -> list[Cell]:
    """A column of fractions in percent."""
    return [percent(fraction, digits) for fraction in fractions]


def p_values(values: Iterable[float]) -> list[Cell]:
    """A column of p-values, bold below the level of all tests."""
    return [emphasised(p_value(value), value < LEVEL) for value in values]


def columns_of(rows: Sequence[Mapping[str, Cell]]) -> dict[str, list[Cell]]:
    """Columns of rows of cells; a row without a column has a dash."""
    columns = {}
    for title in dict.fromkeys(chain(*rows)):
        columns[title] = [row.get(title, MISSING) for row in rows]
    return columns
