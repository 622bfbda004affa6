"""Whether methods differ on a dataset: the corrected resampled t-test over its folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import counted
from workflow.report.statistics import (
    LEVEL,
    ROUNDING,
    fold_means,
    framed,
    nearly_equal,
    standard_error,
    tasks_of,
    with_columns,
)
from workflow.report.titles import NPTS, method_title

Model = tuple[str, str]  # method and variant
FEWEST_FOLDS = 3
SIZES = ["train_rows", "test_rows"]
COLUMNS = [
    "task",
    "dataset",
    "metric",
    "method",
    "variant",
    "folds",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "p_holm",
    "reason",
]
UNTESTED = dict.fromkeys(("standard_error", "low", "high", "p_value"), np.nan)


def reference_model(study: pd.DataFrame) -> Model:
    """The model that others are compared with: the first of `NPTS`, or the first one."""
    models = _models(study)
    for name in NPTS:
        for model in models:
            if model[0] == name:
                return model
    return models[0]


def fold_differences(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """The difference of every method from the reference on each dataset, tested.

    A row has a `reason` instead of a p-value for fewer than three folds, and for rows without the
    number of train rows. p-values of a dataset are corrected.
    """
    study = with_columns(fold_means(study), SIZES)
    reference = reference_model(study)
    frames = [pd.DataFrame(columns=COLUMNS)]
    for task in tasks_of(study):
        metric = scoring.metrics[task]
        for dataset, rows in study[study["task"] == task].groupby("dataset", sort=False):
            comparisons = []
            for model in _models(study):
                if model == reference:
                    continue
                names = {"dataset": dataset, "method": model[0], "variant": model[1]}
                comparison = fold_comparison(rows, model, reference, f"test_{metric}")
                comparisons.append({**names, **comparison, "task": task, "metric": metric})
            frames.append(with_holm(framed(comparisons, COLUMNS)))
    return pd.concat(frames, ignore_index=True).assign(reference="/".join(reference))


def fold_test(differences: pd.Series, test_fraction: float) -> dict[str, Any]:
    """Whether a mean over folds differs from zero; every test over folds is this one.

    Args:
        differences: One per fold.
        test_fraction: Test rows over train rows of a fold; NaN if unknown.

    Returns:
        `folds`, and what `corrected_test` returns. It is NaN, but for the mean `difference`, where
        there is a `reason` against a test.
    """
    folds = len(differences)
    facts = {"folds": folds, "difference": differences.mean(), **UNTESTED}
    if folds < FEWEST_FOLDS:
        few = f"too few for a test, at least {FEWEST_FOLDS} are needed"
        return {**facts, "reason": f"{counted(folds, 'fold')}: {few}"}
    if not test_fraction > 0:
        return {**facts, "reason": "these rows lack the number of train rows"}
    if nearly_equal(differences):
        return {**facts, "reason": "the same difference on every fold"}
    return {**facts, **corrected_test(differences.to_numpy(), test_fraction), "reason": ""}


def corrected_test(differences: np.ndarray, test_fraction: float) -> dict[str, float]:
    """The corrected resampled t-test of paired differences (Nadeau and Bengio 2003).

    Args:
        differences: One per fold (K,), not all equal.
        test_fraction: Test rows over train rows of a fold.

    Returns:
        Mean `difference`, its plain `standard_error`, and of the test the ends of the 95 %
        interval and the two-sided `p_value`.
    """
    from scipy.stats import t

    folds = len(differences)
    mean = float(differences.mean())
    variance = (1 / folds + test_fraction) * differences.var(ddof=1)
    error = float(np.sqrt(variance))  # corrected
    low, high = t.interval(1 - LEVEL, folds - 1, loc=mean, scale=error)
    return {
        "difference": mean,
        "standard_error": standard_error(pd.Series(differences)),
        "low": float(low),
        "high": float(high),
        "p_value": 2 * float(t.sf(abs(mean) / error, folds - 1)),
    }


def _models(study: pd.DataFrame) -> list[Model]:
    models = study[["method", "variant"]].drop_duplicates()
    return list(models.itertuples(index=False, name=None))


def fold_comparison(
    rows: pd.DataFrame,
    model: Model,
    reference: Model,
    column: str,
) -> dict[str, Any]:
    """Difference of a model from another one on the folds of a dataset, tested if it can be.

    Args:
        rows: A row per model and fold, with `SIZES`.
        column: The metric that is compared.
    """
    compared = _folds_of(rows, model)
    base = _folds_of(rows, reference)
    for part, name in ((compared, model), (base, reference)):
        failed = part[part["status"] != "ok"]
        if len(failed):
            failure = f"{method_title(*name)}, fold {failed.index[0]}: {failed['reason'].iloc[0]}"
            return {"folds": 0, **UNTESTED, "difference": np.nan, "reason": failure}
    differences = pd.Series(dtype=float)
    if column in compared:
        differences = compared[column].sub(base[column]).dropna()
        is_rounding = differences.abs() <= ROUNDING * base[column].abs().max()
        differences = differences.mask(is_rounding, 0.0)
    sizes = compared[SIZES].fillna(base[SIZES])  # both are of the same folds
    return fold_test(differences, fraction_tested(sizes))


def fraction_tested(rows: pd.DataFrame) -> float:
    """Test rows over train rows, as the mean over folds; NaN where a row does not have them."""
    sizes = with_columns(rows, SIZES)[SIZES].astype(float)
    return float((sizes["test_rows"] / sizes["train_rows"]).mean(skipna=False))


def _folds_of(rows: pd.DataFrame, model: Model) -> pd.DataFrame:
    of_model = (rows["method"] == model[0]) & (rows["variant"] == model[1])
    return rows[of_model].set_index("fold")


def with_holm(frame: pd.DataFrame) -> pd.DataFrame:
    """Add Holm's correction of the p-values that there are."""
    from statsmodels.stats.multitest import multipletests

    tested = frame["p_value"].notna()
    if tested.any():
        p_values = frame.loc[tested, "p_value"].astype(float)
        frame.loc[tested, "p_holm"] = multipletests(p_values, method="holm")[1]
    return frame
