"""Networks with attention between pixels by their treatment of positions, beside a thesis' results.

Alfons, *Multi-dimensional positional self-attention with differentiable span*, VU Amsterdam 2022.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

from workflow.report.cells import NAN, Cell, interval, number, p_value
from workflow.report.fold_tests import with_holm
from workflow.report.sections import Section, Table
from workflow.report.statistics import INTERVAL, LEVEL, nearly_equal
from workflow.studies.error_columns import numbers, texts


@dataclass(frozen=True)
class Treatment:
    """A variant of the study, and the thesis' result.

    Attributes:
        title: Name in the tables.
        thesis_mean: Mean over five seeds of the largest validation accuracy of a training, in
            percent; NaN if the thesis has no such network.
        thesis_deviation: Standard deviation over the seeds, in percent.
    """

    title: str
    thesis_mean: float = NAN
    thesis_deviation: float = NAN


TREATMENTS: Mapping[str, Treatment] = {
    "sinusoids_1d": Treatment("1-D sinusoids", 74.93, 1.065),
    "siren_1d": Treatment("1-D SIREN", 72.69, 2.311),
    "siren_1d_span": Treatment("1-D SIREN, span", 70.94, 2.158),
    "siren_1d_threshold": Treatment("1-D SIREN, span and threshold", 71.68, 1.776),
    "siren_2d": Treatment("2-D SIREN", 79.91, 0.8688),
    "siren_2d_span": Treatment("2-D SIREN, span", 80.26, 1.579),
    "siren_2d_threshold": Treatment("2-D SIREN, span and threshold", 80.95, 0.3782),
    "siren_2d_attending": Treatment("2-D SIREN, attention between images"),
    "siren_2d_without_datapoints": Treatment("2-D SIREN, each image attends to itself"),
}
COMPARISONS = (
    ("sinusoids_1d", "siren_1d"),
    ("siren_1d", "siren_1d_span"),
    ("siren_1d_span", "siren_1d_threshold"),
    ("siren_1d", "siren_2d"),
    ("siren_2d", "siren_2d_span"),
    ("siren_2d_span", "siren_2d_threshold"),
    ("siren_2d_without_datapoints", "siren_2d_attending"),
)
"""Pairs of variants that differ in one part: without it, and with it."""

TEST = "test_accuracy"
VALIDATION = "validation_accuracy"
DECIMALS = 1
ACCURACY_NOTE = (
    "Mean ± standard deviation over seeds, of which there are {seeds} here and five in the thesis. "
    "The thesis' value is the largest validation accuracy of a training, at full size. Its seeds "
    "also change the split, which is the same here."
)
COMPARISON_NOTE = (
    "p is two-sided, of Welch's t-test over the seeds of one fold, after Holm's correction for the "
    "comparisons of this table. The intervals are not corrected. The thesis' change is "
    "of the means above."
)


def treatments(study: pd.DataFrame) -> Table:
    """Accuracy by treatment, and the differences that one part makes, both in percent points.

    Args:
        study: A row for every variant and seed, of one fold.

    Raises:
        ValueError: there are several folds, whose rows would count as seeds.
    """
    if study["fold"].nunique() != 1:
        raise ValueError("the treatments of positions are compared on one fold")
    compared = comparisons(study)
    sections = (_accuracies(study), _comparisons(compared))
    return Table(compared, sections)


def comparisons(study: pd.DataFrame) -> pd.DataFrame:
    """Change of test accuracy by each comparison, its interval, and its p-value (Holm)."""
    rows = []
    for before, after in COMPARISONS:
        earlier = _percents(study, before, TEST)
        later = _percents(study, after, TEST)
        thesis = TREATMENTS[after].thesis_mean - TREATMENTS[before].thesis_mean
        test: Any = ttest_ind(later, earlier, equal_var=False)
        low, high = test.confidence_interval(1 - LEVEL)
        has_variance = not (nearly_equal(later) and nearly_equal(earlier))
        rows.append(
            {
                "before": before,
                "after": after,
                "change": later.mean() - earlier.mean(),
                "low": low,
                "high": high,
                "p_value": test.pvalue if has_variance else np.nan,
                "thesis": thesis,
            }
        )
    return with_holm(pd.DataFrame(rows))


def _accuracies(study: pd.DataFrame) -> Section:
    test_cells = []
    validation_cells = []
    thesis_cells = []
    for variant, treatment in TREATMENTS.items():
        test_cells.append(_over_seeds(_percents(study, variant, TEST)))
        validation_cells.append(_over_seeds(_percents(study, variant, VALIDATION)))
        mean, deviation = treatment.thesis_mean, treatment.thesis_deviation
        thesis_cells.append(number(mean, DECIMALS, error=deviation))
    columns = {
        "Network": texts(treatment.title for treatment in TREATMENTS.values()),
        "Test": test_cells,
        "Validation": validation_cells,
        "Thesis": thesis_cells,
    }
    note = ACCURACY_NOTE.format(seeds=study["seed"].nunique())
    return Section("CIFAR-10, 8 × 8 pixels: accuracy, %", columns, (note,))


def _comparisons(compared: pd.DataFrame) -> Section:
    ends = zip(compared["low"], compared["high"], strict=True)
    intervals = [interval(low, high, DECIMALS) for low, high in ends]
    columns = {
        "From": texts(TREATMENTS[variant].title for variant in compared["before"]),
        "To": texts(TREATMENTS[variant].title for variant in compared["after"]),
        "Change": numbers(compared["change"], DECIMALS, sign=True),
        INTERVAL: intervals,
        "p": [p_value(value) for value in compared["p_holm"]],
        "Thesis": numbers(compared["thesis"], DECIMALS, sign=True),
    }
    return Section("Change of test accuracy, in points", columns, (COMPARISON_NOTE,))


def _percents(study: pd.DataFrame, variant: str, column: str) -> np.ndarray:
    """Accuracies (seeds,) of a variant in percent."""
    return 100 * study.loc[study["variant"] == variant, column].to_numpy(dtype=float)


def _over_seeds(percents: np.ndarray) -> Cell:
    return number(percents.mean(), DECIMALS, error=percents.std(ddof=1))
