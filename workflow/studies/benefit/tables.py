"""What models read, depend on and benefit from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from baselines import methods
from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import DASH, Cell, emphasised, followed_by, metric_decimals, number
from workflow.report.fold_tests import fraction_tested
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import (
    LEVEL,
    MODEL,
    ModelRows,
    by_model,
    fold_means,
    framed,
    tasks_of,
    with_columns,
)
from workflow.report.titles import dataset_title, method_title
from workflow.studies.benefit.effects import (
    permuted_effects,
    summarised,
    twin_effects,
    twin_log_ratio,
)
from workflow.studies.benefit.information import Information, sources_of
from workflow.studies.benefit.over_tables import RESULTS, section, with_tests
from workflow.studies.corruption.tables import with_changes
from workflow.studies.error_columns import model_columns, numbers, percents, texts
from workflow.studies.errors import effect_cell

COLUMNS = [
    "dataset",
    "method",
    "variant",
    "task",
    "folds",
    "reason",
    "metric",
    "source",
    "twin",
    "test",
    "reads",
    "movement",
    "control",
    "depends",
    "depends_error",
    "depends_worse",
    "depends_low",
    "depends_high",
    "depends_p_value",
    "benefits",
    "benefits_error",
    "benefits_worse",
    "benefits_low",
    "benefits_high",
    "benefits_p_value",
    "test_fraction",
    "missing_twin",
    "log_ratio",
    *RESULTS,
]
NOTES = (
    "`Reads` is the share of the probed test rows whose prediction moves by more than a threshold "
    "(0.01 by default) when the source is permuted, in standard deviations of the train targets or "
    "in total variation distance of the class probabilities. `Movement` is the root mean square of "
    "the change, or its mean for classes. `Control` is what the identity permutation moves of up "
    "to 20 rows of a fold. All are means over the permutations of each row.",
    "`Depends` is the effect of permuting the source on the trained model, on the probed test "
    "rows. `Benefits` is that of training a twin without the source, on all test rows of the same "
    "folds. Of RMSE it is the geometric mean over folds of the ratio, of classes the mean increase "
    "of the NLL in nats per row. Then come the folds that are worse without the source. A method "
    "that predicts from other rows alone has no twin without them, which would be a constant.",
    "Bold: differs from zero at the 5 % level by the corrected resampled t-test (Nadeau and Bengio "
    "2003), without a correction for the number of tests. What it does not detect is not excluded.",
)
SELF_TWIN = "the model is without this source, so that its twin would be itself"


def benefit(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each base model and source of information, a section for each metric."""
    tidy = effects(study, scoring)
    sections = section(tidy)
    for metric, part in tidy.groupby("metric", sort=False):
        sections.append(_section(str(metric), part))
    return Table(tidy, with_notes(sections, *NOTES))


def effects(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """What each base model reads, depends on and benefits from, tested over folds and datasets."""
    folds = fold_means(study)
    rows: list[dict[str, Any]] = []
    for task in tasks_of(study):
        metric = scoring.metrics[task]
        for model in by_model(folds[folds["task"] == task]):
            if model.variant == BASE:
                rows += _rows_of(model, folds, metric)
    return with_tests(framed(rows, COLUMNS))


def _rows_of(model: ModelRows, folds: pd.DataFrame, metric: str) -> Iterator[dict[str, Any]]:
    """A row for each source of information."""
    declared = methods().get(model.method)
    twins = declared.twins if declared else {}
    base = with_columns(model.rows, [f"test_{metric}"])
    fraction = fraction_tested(base)
    for source in sources_of(twins):
        facts = model.facts()
        depends = permuted_effects(base, source)
        benefits = twin_effects(folds, facts, source)
        yield {
            **facts,
            "metric": metric,
            "source": source.title,
            "twin": source.twin if source.twin in twins else "",
            "test": base[f"test_{metric}"].mean(),
            **_movements(base, source),
            **summarised("depends", depends, fraction),
            **summarised("benefits", benefits, fraction),
            "test_fraction": fraction,
            "missing_twin": _missing_twin(model, folds, source) if source.twin in twins else "",
            "log_ratio": twin_log_ratio(folds, facts, source),
        }


def _movements(base: pd.DataFrame, source: Information) -> dict[str, float]:
    """Means over folds; NaN for a source that is in the row itself."""
    if source.permuted is None:
        return {}
    moved = f"{source.permuted.name}_moved"
    columns = with_columns(with_changes(base, source.permuted), [moved, "control_moved"])
    return {
        "reads": columns[moved].mean(),
        "movement": columns["movement"].mean(),
        "control": columns["control_moved"].mean(),
    }


def _missing_twin(model: ModelRows, folds: pd.DataFrame, source: Information) -> str:
    """Why a declared twin has no result; empty if it has one."""
    is_twin = (folds["dataset"] == model.dataset) & (folds["method"] == model.method)
    twin = folds[is_twin & (folds["variant"] == source.twin)]
    if twin.empty:
        return SELF_TWIN
    failed = twin[twin["status"] != "ok"]
    if failed.empty:
        return ""
    first = failed.iloc[0]
    return f"fold {first['fold']}: {first['reason']}"


def _section(metric: str, part: pd.DataFrame) -> Section:
    known = METRICS[metric]
    columns = {
        **model_columns(part),
        "Source": texts(part["source"]),
        known.title: [number(value, metric_decimals(value)) for value in part["test"]],
        "Reads": percents(part["reads"]),
        "Movement": numbers(part["movement"], 3),
        "Control": percents(part["control"]),
        "Depends": _effects(part, "depends"),
        "Benefits": _effects(part, "benefits"),
    }
    title = f"Test {known.title}, and what it costs to be without each source of information"
    return Section(title, columns, _reasons(part))


def _effects(part: pd.DataFrame, name: str) -> list[Cell]:
    """Effects and the number of worse folds, bold where the mean differs from zero."""
    cells = []
    for row in part.to_dict("records"):
        cell = effect_cell(row[name], row["task"])
        cell = followed_by(cell, f" ({row[f'{name}_worse']} of {row['folds']})")
        cells.append(emphasised(cell, row[f"{name}_p_value"] < LEVEL))
    return cells


def _reasons(part: pd.DataFrame) -> tuple[str, ...]:
    """Reasons of missing bases, then of missing twins."""
    notes = list(failure_notes(part.drop_duplicates(MODEL)))
    without_twin = part[(part["reason"] == "") & (part["missing_twin"] != "")]
    for row in without_twin.to_dict("records"):
        title = method_title(row["method"], row["twin"])
        notes.append(f"{DASH} {title} on {dataset_title(row['dataset'])}: {row['missing_twin']}")
    return tuple(notes)
