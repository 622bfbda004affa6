"""The corrected resampled t-test over folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.workflow.report.toy import FAILED, SCORING, fold_study
from workflow.report.fold_tests import (
    corrected_test,
    fold_differences,
    fold_test,
    fraction_tested,
    reference_model,
)

KNN = {"knn": [1.0, 2.0, 3.0]}


def test_corrected_test_by_hand() -> None:
    test = corrected_test(np.array([1.0, 2.0, 3.0]), 10 / 70)
    error = np.sqrt(1 / 3 + 1 / 7)
    assert test["difference"] == 2
    assert test["standard_error"] == pytest.approx(np.sqrt(1 / 3))
    assert test["p_value"] == pytest.approx(2 * stats.t.sf(2 / error, 2))
    half_width = stats.t.ppf(0.975, 2) * error
    assert (test["low"], test["high"]) == pytest.approx((2 - half_width, 2 + half_width))


def test_corrected_test_doubts_more_than_the_plain_one() -> None:
    differences = np.array([1.0, 2.0, 3.0])
    plain = stats.ttest_1samp(differences, 0)
    assert corrected_test(differences, 10 / 70)["p_value"] > plain.pvalue


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
def test_one_rule_says_what_is_untested(
    differences: list[float], fraction: float, reason: str
) -> None:
    test = fold_test(pd.Series(differences), fraction)
    assert test["reason"].startswith(reason)
    assert np.isnan(test["p_value"]) == bool(reason)
    assert test["difference"] == pytest.approx(np.mean(differences))


def test_fraction_tested_is_unknown_if_a_fold_lacks_it() -> None:
    sizes = pd.DataFrame({"train_rows": [70, 70], "test_rows": [10, np.nan]})
    assert fraction_tested(sizes.iloc[:1]) == pytest.approx(1 / 7)
    assert np.isnan(fraction_tested(sizes))


def test_p_values_are_corrected_by_holm() -> None:
    frame = fold_differences(fold_study({**KNN, "mlp": [0.1, -0.1, 0.3]}), SCORING)
    tested = frame.set_index("method")
    knn = 2 * tested.loc["knn", "p_value"]
    assert tested.loc["knn", "p_holm"] == pytest.approx(knn)
    assert tested.loc["mlp", "p_holm"] == pytest.approx(max(tested.loc["mlp", "p_value"], knn))


@pytest.mark.parametrize(
    ("study", "reason"),
    [
        (fold_study({"knn": [1.0, 2.0]}), "2 folds: too few"),
        (fold_study({"knn": [1.0, 1.0, 1.0]}), "the same difference"),
        (fold_study(KNN).drop(columns="train_rows"), "these rows lack"),
        (fold_study(KNN, **FAILED), "k-NN, fold 0: out of memory"),
    ],
)
def test_refused_test_has_a_reason(study: pd.DataFrame, reason: str) -> None:
    frame = fold_differences(study, SCORING)
    assert frame["reason"].item().startswith(reason)
    assert frame["p_holm"].isna().all()


def test_sizes_of_a_fold_are_those_of_either_model() -> None:
    study = fold_study(KNN)
    expected = fold_differences(study, SCORING)
    study.loc[study["method"] == "knn", ["train_rows", "test_rows"]] = np.nan
    frame = fold_differences(study, SCORING)
    assert frame["p_value"].item() == expected["p_value"].item()


def test_differences_by_rounding_are_no_evidence() -> None:
    study = fold_study({"knn": [1.0, 1.0, 1.0]})
    for fold, value in enumerate((17, 16, 15)):
        rows = study["fold"] == fold
        study.loc[rows & (study["method"] == "npt"), "test_rmse"] = value / 18
        study.loc[rows & (study["method"] == "knn"), "test_rmse"] = (value + 1) / 18
    frame = fold_differences(study, SCORING)
    assert frame["reason"].tolist() == ["the same difference on every fold"]


def test_seeds_are_averaged_before_folds_are_compared() -> None:
    study = fold_study({"knn": [1.0, 2.0, 3.0]}, seed=0)
    other = fold_study({"knn": [3.0, 4.0, 5.0]}, seed=1)
    frame = fold_differences(pd.concat([study, other], ignore_index=True), SCORING)
    assert frame["difference"].item() == pytest.approx(3)
    assert frame["folds"].item() == 3


def test_npt_is_the_reference_or_else_the_first_method() -> None:
    study = fold_study({"knn": [1.0], "mlp": [2.0]})
    assert reference_model(study) == ("npt", "base")
    assert reference_model(study.query("method != 'npt'")) == ("knn", "base")
