"""What models read, depend on and benefit from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from baselines import baselines, methods
from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import DASH, Cell, counted, emphasised, metric_decimals, number
from workflow.report.fold_tests import FEWEST_FOLDS, needed_errors
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
from workflow.studies.benefit import BenefitOptions
from workflow.studies.benefit.by_fold import by_fold
from workflow.studies.benefit.information import Information, sources_of
from workflow.studies.benefit.losses import permuted_losses, summarised, twin_losses
from workflow.studies.error_columns import model_columns, numbers, percents, texts
from workflow.studies.sentences import listed, value_range

__all__ = ["benefit", "by_fold", "effects"]

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
    "depends_low",
    "depends_high",
    "depends_p_value",
    "benefits",
    "benefits_error",
    "benefits_low",
    "benefits_high",
    "benefits_p_value",
    "test_fraction",
    "missing_twin",
]
READS_NOTE = (
    "`Reads` is the share of the probed test rows whose prediction moves by more than {:g} when "
    "the source is permuted, in standard deviations of the train targets or in total variation "
    "distance of the class probabilities. `Movement` is the mean absolute change in these units. "
    "`Control` is the movement under the identity permutation, for up to 20 rows of a fold."
)
LOSS_NOTE = (
    "`Depends` is the loss of the trained model when the source is permuted, on the probed test "
    "rows. `Benefits` is the loss of a twin that is trained without the source, on all test rows "
    "of the same folds. Positive is worse without the source. ± is the standard error over folds."
)
PERMUTATIONS_NOTE = "`Reads`, `Movement` and `Depends` are means over {} permutations of each row."
TEST_NOTE = (
    "Bold: differs from zero at the 5 % level by the corrected resampled t-test (Nadeau and "
    "Bengio 2003), without a correction for the number of tests."
)
NO_TWIN_NOTE = (
    "Without a twin, because it predicts from other rows alone: {}. Without these it is a constant."
)
SELF_TWIN = "the model is without this source, so that its twin would be itself"


def benefit(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each base model and source of information, a section for each metric."""
    tidy = effects(study, scoring)
    sections = []
    for metric, part in tidy.groupby("metric", sort=False):
        sections.append(_section(str(metric), part))
    return Table(tidy, with_notes(sections, *_notes(study, tidy)))


def effects(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """What each base model reads, depends on and benefits from, with the tests over folds."""
    folds = with_columns(fold_means(study), ["train_rows", "test_rows"])
    rows: list[dict[str, Any]] = []
    for task in tasks_of(study):
        metric = scoring.metrics[task]
        for model in by_model(folds[folds["task"] == task]):
            if model.variant == BASE:
                rows += _rows_of(model, folds, metric)
    return framed(rows, COLUMNS)


def _rows_of(model: ModelRows, folds: pd.DataFrame, metric: str) -> Iterator[dict[str, Any]]:
    """A row for each source of information."""
    declared = methods().get(model.method)
    twins = declared.twins if declared else {}
    base = with_columns(model.rows, [f"test_{metric}", "control_movement"])
    fraction = float((base["test_rows"] / base["train_rows"]).mean())
    for source in sources_of(twins):
        facts = model.facts()
        depends = permuted_losses(base, source, metric)
        benefits = twin_losses(folds, facts, source, metric)
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
        }


def _movements(base: pd.DataFrame, source: Information) -> dict[str, float]:
    """Means over folds; NaN for a source that is in the row itself."""
    if source.permuted is None:
        return {}
    name = source.permuted.name
    columns = with_columns(base, [f"{name}_moved", f"{name}_movement"])
    return {
        "reads": columns[f"{name}_moved"].mean(),
        "movement": columns[f"{name}_movement"].mean(),
        "control": columns["control_movement"].mean(),
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
        "Control": numbers(part["control"], 3),
        "Depends": _losses(part, "depends"),
        "Benefits": _losses(part, "benefits"),
    }
    change = "Loss" if known.higher_is_better else "Increase"
    title = f"{change} of test {known.title} without each source of information (+ is worse)"
    return Section(title, columns, _reasons(part))


def _losses(part: pd.DataFrame, name: str) -> list[Cell]:
    """Losses in units of the metric, bold where they differ from zero."""
    cells = []
    for row in part.to_dict("records"):
        error = row[f"{name}_error"]
        cell = number(row[name], metric_decimals(row["test"]), error=error, sign=True)
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


def _notes(study: pd.DataFrame, tidy: pd.DataFrame) -> list[str]:
    options = BenefitOptions.of(study)
    notes = [READS_NOTE.format(options.threshold), LOSS_NOTE]
    if options.permutations > 1:
        notes.append(PERMUTATIONS_NOTE.format(options.permutations))
    without_twin = _without_twin(tidy)
    if without_twin:
        notes.append(NO_TWIN_NOTE.format(listed(without_twin)))
    return [*notes, TEST_NOTE, *power(tidy)]


def _without_twin(tidy: pd.DataFrame) -> list[str]:
    """Titles of the methods that keep train rows and declare no twin."""
    titles = []
    for name in tidy["method"].drop_duplicates():
        baseline = baselines().get(name)
        if baseline is not None and baseline.keeps_train_rows and not baseline.twins:
            titles.append(baseline.title)
    return titles


def power(tidy: pd.DataFrame) -> list[str]:
    """For each number of folds, how far from zero a mean has to be."""
    sentences = []
    for folds, part in tidy[tidy["reason"] == ""].groupby("folds"):
        needed = part["test_fraction"].map(partial(needed_errors, int(folds)))  # type: ignore[arg-type]
        shown = counted(int(folds), "fold")  # type: ignore[arg-type]
        if needed.isna().all():
            sentences.append(f"{shown}: too few for a test, at least {FEWEST_FOLDS} are needed.")
            continue
        sentences.append(
            f"With {shown}, an effect is significant only beyond {value_range(needed, 1)} standard "
            "errors. A smaller one is neither shown nor excluded."
        )
    return sentences
