"""The corrected resampled t-test over folds."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workflow.report.statistics import fold_test, fraction_tested


def test_corrected_test_by_hand_doubts_more_than_the_plain_one() -> None:
    differences = pd.Series([1.0, 2.0, 3.0])
    p_value, _ = fold_test(differences, 10 / 70)
    assert p_value == pytest.approx(2 * stats.t.sf(2 / np.sqrt(1 / 3 + 1 / 7), 2))
    assert p_value > stats.ttest_1samp(differences, 0).pvalue


@pytest.mark.parametrize(
    ("differences", "fraction", "reason"),
    [
        ([1.0, 2.0], 0.2, "2 folds"),
        ([1.0, 2.0, 3.0], np.nan, "these rows lack"),
        ([-2.5, -2.5, -2.5], 0.2, "the same difference"),
        ([0.1 + 0.2, 0.3, 0.3], 0.2, "the same difference"),
        ([0.0, 0.0, 0.0], 0.2, "the same difference"),
        ([1.0, 2.0, 3.0], 0.2, ""),
    ],
)
def test_no_p_value_has_a_reason(differences: list[float], fraction: float, reason: str) -> None:
    p_value, untested = fold_test(pd.Series(differences), fraction)
    assert untested.startswith(reason)
    assert np.isnan(p_value) == bool(untested) == bool(reason)


def test_fraction_tested_is_unknown_if_a_fold_lacks_it() -> None:
    sizes = pd.DataFrame({"train_rows": [70, 70], "test_rows": [10, np.nan]})
    assert fraction_tested(sizes.iloc[:1]) == pytest.approx(1 / 7)
    assert np.isnan(fraction_tested(sizes))
