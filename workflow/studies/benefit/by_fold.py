"""What models read, depend on and benefit from, on each fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from baselines import methods
from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import metric_decimals, number, text
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    ModelRows,
    by_model,
    fold_means,
    framed,
    tasks_of,
    with_columns,
)
from workflow.studies.benefit.effects import permuted_effects, twin_effects
from workflow.studies.benefit.information import Information, sources_of
from workflow.studies.error_columns import model_columns, percents, texts
from workflow.studies.errors import effect_cell

COLUMNS = ("metric", "source", "fold", "test", "reads", "depends", "benefits")
GROUP = "Each fold"
NOTE = (
    "A mean over folds hides a model that chooses another path on each of them. Columns are those "
    "of the table above, for one fold."
)


def by_fold(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each base model, source of information and fold, a section for each metric."""
    folds = with_columns(fold_means(study), ["train_rows", "test_rows"])
    rows: list[dict[str, Any]] = []
    for task in tasks_of(study):
        metric = scoring.metrics[task]
        for model in by_model(folds[folds["task"] == task]):
            if model.variant == BASE and not model.rows.empty:
                rows += _rows_of(model, folds, metric)
    tidy = framed(rows, COLUMNS)
    sections = []
    for metric, part in tidy.groupby("metric", sort=False):
        sections.append(_section(str(metric), part))
    return Table(tidy, tuple(sections))


def _rows_of(model: ModelRows, folds: pd.DataFrame, metric: str) -> Iterator[dict[str, Any]]:
    """A row for each source that can be permuted or that a twin is without, and each fold."""
    declared = methods().get(model.method)
    facts = model.facts()
    for source in sources_of(declared.twins if declared else {}):
        depends = permuted_effects(model.rows, source)
        benefits = twin_effects(folds, facts, source)
        for row in model.rows.to_dict("records"):
            fold = row["fold"]
            yield {
                **facts,
                "metric": metric,
                "source": source.title,
                "fold": fold,
                "test": row.get(f"test_{metric}"),
                "reads": _reads(row, source),
                "depends": depends.get(fold, float("nan")),
                "benefits": benefits.get(fold, float("nan")),
            }


def _reads(row: dict[Any, Any], source: Information) -> float:
    """Share of moved predictions; NaN for a source that is in the row itself."""
    if source.permuted is None:
        return float("nan")
    return row.get(f"{source.permuted.name}_moved", float("nan"))


def _section(metric: str, part: pd.DataFrame) -> Section:
    known = METRICS[metric]
    columns = {
        **model_columns(part),
        "Source": texts(part["source"]),
        "Fold": [text(str(int(fold))) for fold in part["fold"]],
        known.title: [number(value, metric_decimals(value)) for value in part["test"]],
        "Reads": percents(part["reads"]),
    }
    for name in ("depends", "benefits"):
        columns[name.capitalize()] = [
            effect_cell(value, task) for value, task in zip(part[name], part["task"], strict=True)
        ]
    return Section(f"{known.title} by fold", columns, (NOTE,), group=GROUP)
