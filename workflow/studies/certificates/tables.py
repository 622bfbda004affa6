"""Influence of one row on another's prediction."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import scientific
from workflow.report.sections import Table
from workflow.report.statistics import by_model, framed, standard_error
from workflow.studies.error_columns import model_table, with_errors
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


def influence(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each model: its error, the certified bound, and what moves its predictions."""
    tidy = influences(study)
    columns = {
        "Error": with_errors(tidy, "error"),
        "Certified": [scientific(bound, 2) for bound in tidy["bound"]],
        "Largest found": [scientific(largest, 2) for largest in tidy["largest_influence"]],
        "Corruption": [scientific(mean, 2) for mean in tidy["corruption"]],
    }
    return model_table(tidy, "Influence of one other row", columns, (NOTE,))


def influences(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each model: largest over folds, or means; none of them after a failed fold."""
    rows = []
    for model in by_model(study):
        folds = model.rows
        rows.append(model.facts())
        if folds.empty:
            continue
        test_errors = errors(folds, "test_")
        bounds = folds[BOUNDS].apply(pd.to_numeric).max(skipna=False)  # NaN if a fold has none
        rows[-1] |= {
            "bound": bounds.min(skipna=False),
            "largest_influence": folds["largest_influence"].max(),
            "corruption": folds["corruption"].mean(),
            "error": test_errors.mean(),
            "standard_error": standard_error(test_errors),
        }
    return framed(rows, MEASURES)
