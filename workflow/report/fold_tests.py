"""Whether a mean over folds differs from zero: the corrected resampled t-test."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workflow.report.cells import counted
from workflow.report.statistics import nearly_equal

FEWEST_FOLDS = 3
SIZES = ["train_rows", "test_rows"]


def fold_test(differences: pd.Series, test_fraction: float) -> tuple[float, str]:
    """Whether a mean over folds differs from zero (Nadeau and Bengio 2003).

    Every test over folds is this one.

    Args:
        differences: One per fold.
        test_fraction: Test rows over train rows of a fold; NaN if unknown.

    Returns:
        The two-sided p-value, and the reason if it is NaN because there is no test.
    """
    from scipy.stats import t

    folds = len(differences)
    if folds < FEWEST_FOLDS:
        few = f"too few for a test, at least {FEWEST_FOLDS} are needed"
        return np.nan, f"{counted(folds, 'fold')}: {few}"
    if not test_fraction > 0:
        return np.nan, "these rows lack the number of train rows"
    if nearly_equal(differences):
        return np.nan, "the same difference on every fold"
    values = differences.to_numpy()
    variance = (1 / folds + test_fraction) * values.var(ddof=1)
    return 2 * float(t.sf(abs(values.mean()) / np.sqrt(variance), folds - 1)), ""


def fraction_tested(rows: pd.DataFrame) -> float:
    """Test rows over train rows, as the mean over folds; NaN where a row does not have them."""
    sizes = rows.reindex(columns=SIZES).astype(float)
    return float((sizes["test_rows"] / sizes["train_rows"]).mean(skipna=False))
