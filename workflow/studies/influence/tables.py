"""Influence of one row on another's prediction, and learned spans."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, number, percent, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import MODEL, by_model, standard_error
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.error_columns import columns_of, model_columns, with_errors
from workflow.studies.errors import error_of

BOUNDS = ["bound_maximum", "bound_euclidean"]
FACTS = [*BOUNDS, "bound", "largest_influence", "corruption", "error", "standard_error"]
NOTE = (
    "Influence in standard deviations of the train targets, or of the predicted class's "
    "probability. `Certified`: no change of the visible cells of one other row within the ranges "
    "of their columns moves a prediction further; the largest of the folds. It is the product of "
    "the bounds of all blocks in the norm that is named, and exists for tied distances without "
    "LayerNorm alone. It does not cover cells that become hidden or visible, as they may under "
    "corruption. `Largest found`: by gradient ascent over one other row in double precision, which "
    "may stop at a local maximum; the largest of the folds and probed rows. `Corruption`: mean "
    "movement when all other rows are permuted column by column, which is more than one row. It is "
    "computed in single precision, whose rounding is about 1e-7. `Error`: RMSE, or the percentage "
    "of wrong classes, of all test rows."
)
SPAN_NOTE = (
    "Learned sigma of each feature's column in standard deviations, divided by the root of the "
    "number of feature columns, as the mean over blocks and folds: the smaller, the more the column"
    " decides which rows are near. `Near` is the fraction of pairs of rows above the threshold, if "
    "there is one."
)


def influence(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each model, and the learned spans below."""
    means = influences(study)
    columns = model_columns(means)
    columns["Error"] = with_errors(means, "error")
    columns["Certified, maximum norm"] = [_scientific(value) for value in means["bound_maximum"]]
    columns["Certified, Euclidean"] = [_scientific(value) for value in means["bound_euclidean"]]
    columns["Largest found"] = [_number(value) for value in means["largest_influence"]]
    columns["Corruption"] = [_number(value) for value in means["corruption"]]
    facts = [model.facts() for model in by_model(study)]
    models = pd.DataFrame(facts)
    section = Section("Influence of one other row", columns, (NOTE, *failure_notes(models)))
    spans = with_notes(_span_sections(study), SPAN_NOTE)
    sections = [section, *spans]
    tidy = means.assign(reason="")
    failed = models[models["reason"] != ""]
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    return Table(tidy, tuple(sections))


def influences(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each model without a failed fold: largest over folds, or means."""
    rows: list[dict[str, Any]] = []
    for model in by_model(study):
        folds = model.rows
        if folds.empty or "largest_influence" not in folds:
            continue
        task = model.task
        errors = pd.Series([error_of(row, task, "test_") for row in folds.to_dict("records")])
        bounds = {name: _largest_of_folds(folds[name]) for name in BOUNDS}
        rows.append(
            {
                "dataset": model.dataset,
                "method": model.method,
                "variant": model.variant,
                "task": task,
                "folds": len(folds),
                **bounds,
                "bound": min(bounds.values()),
                "largest_influence": folds["largest_influence"].max(),
                "corruption": folds["corruption"].mean(),
                "error": errors.mean(),
                "standard_error": standard_error(errors),
            }
        )
    names = [*MODEL, "task", "folds", *FACTS]
    return pd.DataFrame(rows, columns=names)


def _largest_of_folds(bounds: pd.Series) -> float:
    """NaN if a fold has none."""
    return float(pd.to_numeric(bounds).max(skipna=False))


def _span_sections(study: pd.DataFrame) -> list[Section]:
    """The sigma of every column, a section for each dataset with models that have a span."""
    if "spans" not in study:
        return []
    sections = []
    with_spans = study[study["spans"].notna()]
    for dataset, models in with_spans.groupby("dataset", sort=False):
        title = f"Learned spans on {dataset_title(str(dataset))}"
        columns = columns_of(_span_rows(models))
        sections.append(Section(title, columns))
    return sections


def _span_rows(models: pd.DataFrame) -> list[dict[str, Cell]]:
    """Cells of the sigma of every column of a dataset, a row for each model."""
    rows: list[dict[str, Cell]] = []
    for names, folds in models.groupby(MODEL, sort=False):
        model = pd.DataFrame([dict(zip(MODEL, names, strict=True))])
        sigma = pd.concat([_sigma(facts) for facts in folds["spans"]], axis=1).mean(axis=1)
        cells = {"Method": text(method_titles(model)[0])}
        for column, value in sigma.items():
            cells[str(column)] = number(float(value), 2)
        cells["Near"] = percent(folds["near_fraction"].mean())
        rows.append(cells)
    return rows


def _sigma(facts: str) -> pd.Series:
    """Mean over the blocks of every column's sigma, in units of the root of the columns."""
    frame = pd.DataFrame(json.loads(facts)).set_index("column")
    return frame.mean(axis=1) / len(frame) ** 0.5


def _scientific(value: float) -> Cell:
    if pd.isna(value):
        return MISSING
    shown = f"{value:.2g}" if value < 1000 else f"{value:.1e}"
    return Cell(shown, value)


def _number(value: float) -> Cell:
    return Cell(f"{value:.2g}", value)
