"""Whether methods differ on a dataset: paired differences over its folds, with the corrected resampled t-test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.section import (
    DASH,
    Section,
    Tabulated,
    bold,
    counted,
    decimals,
    noted,
    notes,
    number,
    plus_minus,
    probability,
    tasks_of,
)
from workflow.report.summary import (
    LEVEL,
    MODEL,
    alike,
    dataset_title,
    method_title,
    method_titles,
    tabulated,
    unfinished,
    with_columns,
)

FEWEST_FOLDS = 3
COLUMNS = [
    "task", "dataset", "metric", "reference", "method", "variant", "folds", "difference", "standard_error", "low", "high",
    "p_value", "p_holm", "reason",
]  # fmt: skip
TESTED = ("standard_error", "low", "high", "p_value")
WAITING = "not tested before all results of the dataset are there"
NOTE = (
    "Difference of each method from {reference} on the same folds, mean and standard error corrected for the rows that the "
    "training sets of the folds share (Nadeau and Bengio 2003: the variance counts 1/folds + test rows/training rows); p is "
    "two-sided, of Student's t, after Holm's correction for the comparisons of this table; bold below {level}."
)


def over_folds(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Every method's difference from NPT (or the first method) on the folds of each dataset, by the corrected resampled t-test.

    Refused for a dataset with fewer than three folds, for rows that do not tell how many rows a fold trained on, and while
    results of a dataset are missing, as the correction counts all comparisons.
    """
    study = with_columns(study, ["train_rows", "test_rows"])
    models = list(study[MODEL[1:]].drop_duplicates().itertuples(index=False, name=None))
    reference = next((model for model in models if model[0] == "npt"), models[0])
    frames, sections, later = [], [], unfinished(study)
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        for dataset, part in study[study["task"] == task].groupby("dataset", sort=False):
            facts = {
                "task": task,
                "dataset": dataset,
                "metric": metric.name,
                "reference": "/".join(reference),
            }
            rows = [
                {
                    **facts,
                    "method": model[0],
                    "variant": model[1],
                    **_compared(part, model, reference, f"test_{metric.name}"),
                }
                for model in models
                if model != reference
            ]
            if dataset in later:
                rows = [
                    {**row, **dict.fromkeys(TESTED, np.nan), "reason": row["reason"] or WAITING}
                    for row in rows
                ]
            frame = _corrected(tabulated(rows, COLUMNS))
            frames.append(frame)
            if len(frame):
                better = "higher" if metric.higher_is_better else "lower"
                sections.append(
                    _fold_section(
                        frame, method_title(*reference), f"{metric.title} ({better} is better)"
                    )
                )
    tidy = pd.concat(frames, ignore_index=True)
    remarks = (
        [NOTE.format(reference=method_title(*reference), level=LEVEL)]
        if tidy["p_value"].notna().any()
        else []
    )
    return Tabulated(tidy, noted(sections, *remarks))


def corrected_test(differences: np.ndarray, test_share: float) -> dict[str, float]:
    """The corrected resampled t-test of paired differences (Nadeau and Bengio 2003).

    Args:
        differences: one for each fold, (K,), not all alike.
        test_share: test rows over training rows of a fold.

    Returns:
        Mean `difference`, its corrected `standard_error`, the ends of its 95 % interval and the two-sided `p_value`.
    """
    from scipy.stats import t

    folds, mean = len(differences), float(differences.mean())
    error = float(np.sqrt((1 / folds + test_share) * differences.var(ddof=1)))
    low, high = t.interval(1 - LEVEL, folds - 1, loc=mean, scale=error)
    p_value = 2 * float(t.sf(abs(mean) / error, folds - 1))
    return {
        "difference": mean,
        "standard_error": error,
        "low": float(low),
        "high": float(high),
        "p_value": p_value,
    }


def _compared(
    part: pd.DataFrame, model: tuple[str, str], reference: tuple[str, str], column: str
) -> dict[str, Any]:
    own, other = (
        part[(part["method"] == m) & (part["variant"] == v)].set_index("fold")
        for m, v in (model, reference)
    )
    for rows, name in ((own, model), (other, reference)):
        if len(rows) and (rows["status"] != "ok").any():
            failed = rows[rows["status"] != "ok"].iloc[0]
            return {
                "folds": 0,
                "reason": f"{method_title(*name)}, fold {failed.name}: {failed['reason']}",
            }
    both = own[column].sub(other[column]).dropna() if column in own else pd.Series(dtype=float)
    found: dict[str, Any] = {"folds": len(both), "difference": both.mean()}
    if len(both) < FEWEST_FOLDS:
        return {
            **found,
            "reason": f"{counted(len(both), 'fold')}: too few for a test, at least {FEWEST_FOLDS} are needed",
        }
    if not (own["train_rows"] > 0).all():
        return {**found, "reason": "these rows do not tell how many rows a fold trained on"}
    if alike(both) or both.abs().max() <= 1e-9 * other[column].abs().max():
        return {**found, "reason": "the same difference on every fold"}
    return {
        **found,
        **corrected_test(both.to_numpy(), float((own["test_rows"] / own["train_rows"]).mean())),
        "reason": "",
    }


def _corrected(frame: pd.DataFrame) -> pd.DataFrame:
    """Holm's correction of the p-values that there are."""
    from statsmodels.stats.multitest import multipletests

    tested = frame["p_value"].notna()
    if tested.any():
        frame.loc[tested, "p_holm"] = multipletests(
            frame.loc[tested, "p_value"].astype(float), method="holm"
        )[1]
    return frame


def _fold_section(frame: pd.DataFrame, reference: str, metric: str) -> Section:
    title = f"{dataset_title(str(frame['dataset'].iloc[0]))}: {metric}, paired over folds with {reference}"
    reasons = frame["reason"].unique()
    untested = frame["p_value"].isna().all() and len(reasons) == 1
    remarks = (f"No test: {reasons[0]}.",) if untested else notes(frame)
    cells = pd.DataFrame(
        {
            "Method": method_titles(frame),
            "Folds": [str(count) for count in frame["folds"]],
            "Difference": [
                plus_minus(d, e, decimals(d), sign=True)
                for d, e in zip(
                    frame["difference"], frame["standard_error"].astype(float), strict=True
                )
            ],
            "95 % interval": [
                DASH
                if pd.isna(low)
                else f"{number(low, decimals(low))} to {number(high, decimals(high))}"
                for low, high in zip(frame["low"], frame["high"], strict=True)
            ],
            "p, Holm": [bold(probability(p), p < LEVEL) for p in frame["p_holm"].astype(float)],
        }
    )
    return Section(title, cells, remarks, "Differences over folds, tested")
