"""Influence of one row on another's prediction, and learned spans."""

from __future__ import annotations

import json

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import metric_decimals, number, scientific, text
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model, framed, standard_error
from workflow.report.titles import dataset_title, method_title
from workflow.studies.error_columns import columns_of, model_cells, probe_table
from workflow.studies.errors import errors

BOUNDS = ["bound_maximum", "bound_euclidean"]
MEASURES = ["bound", "largest_influence", "corruption", "error", "standard_error"]
NOTE = (
    "Influence in standard deviations of the train targets, or of the predicted class's "
    "probability. `Certified`: no change of the visible cells of one other row within the ranges "
    "of their columns moves a prediction further; the largest of the folds. It is the product of "
    "the bounds of all blocks in the maximum or the Euclidean norm, whichever is smaller, and "
    "exists for tied distances without LayerNorm alone. It does not cover cells that become hidden "
    "or visible, as they may under corruption. `Largest found`: by gradient ascent over one other "
    "row in double precision, which may stop at a local maximum; the largest of the folds and "
    "probed rows. `Corruption`: mean movement when all other rows are permuted column by column, "
    "which is more than one row. It is computed in single precision, whose rounding is about 1e-7. "
    "`Error`: RMSE, or the percentage of wrong classes, of all test rows."
)
SPAN_NOTE = (
    "Learned sigma of each feature's column in standard deviations, divided by the root of the "
    "number of feature columns, as the mean over blocks and folds: the smaller, the more the column"
    " decides which rows are near."
)


def influence(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each model, and the learned spans below."""
    means = influences(study)
    rows = []
    for model in means.to_dict("records"):
        cells = model_cells(model)
        digits = metric_decimals(model["error"])
        cells["Error"] = number(model["error"], digits, error=model["standard_error"])
        cells["Certified"] = scientific(model["bound"], 2)
        cells["Largest found"] = scientific(model["largest_influence"], 2)
        cells["Corruption"] = scientific(model["corruption"], 2)
        rows.append(cells)
    table = probe_table(study, means, "Influence of one other row", rows, NOTE)
    return Table(table.tidy, (*table.sections, *_span_sections(study)))


def influences(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each model without a failed fold: largest over folds, or means."""
    rows = []
    for model in by_model(study):
        folds = model.rows
        if folds.empty:
            continue
        test_errors = errors(folds, "test_")
        bounds = folds[BOUNDS].apply(pd.to_numeric).max(skipna=False)  # NaN if a fold has none
        rows.append(
            {
                **model.facts(),
                "bound": bounds.min(skipna=False),
                "largest_influence": folds["largest_influence"].max(),
                "corruption": folds["corruption"].mean(),
                "error": test_errors.mean(),
                "standard_error": standard_error(test_errors),
            }
        )
    return framed(rows, [*MODEL, "task", "folds", *MEASURES])


def _span_sections(study: pd.DataFrame) -> list[Section]:
    """The sigma of every column, a section for each dataset with models that have a span."""
    if "spans" not in study:
        return []
    sections = []
    for dataset, models in study.dropna(subset="spans").groupby("dataset", sort=False):
        rows = []
        for (method, variant), folds in models.groupby(["method", "variant"], sort=False):
            spans = [
                pd.DataFrame(json.loads(facts)).set_index("column") for facts in folds["spans"]
            ]
            sigma = pd.concat(spans, axis=1).mean(axis=1)
            cells = {"Method": text(method_title(str(method), str(variant)))}
            for column, value in (sigma / len(sigma) ** 0.5).items():
                cells[str(column)] = number(value, 2)
            rows.append(cells)
        title = f"Learned spans on {dataset_title(str(dataset))}"
        sections.append(Section(title, columns_of(rows), (SPAN_NOTE,)))
    return sections
