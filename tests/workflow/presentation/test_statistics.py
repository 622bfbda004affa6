import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.workflow.report.toy import FAILED, benchmark_study, seeds_study, with_failure
from workflow.presentation.statistics import (
    by_model,
    datasets_and_folds,
    fold_means,
    fold_test,
    fraction_tested,
    signed_rank_p,
    standard_error,
    summarise,
    without_failures,
)

SEEDS = {0: [1.0, 3.0], 1: [4.0, 8.0], 2: [7.0, 9.0]}


def test_rounding_has_no_standard_error() -> None:
    assert standard_error(pd.Series([0.1 + 0.2, 0.3])) == 0
    assert np.isnan(standard_error(pd.Series([0.3])))


def test_seeds_are_averaged_before_folds() -> None:
    summary = summarise(seeds_study(SEEDS), "regression", "rmse").iloc[0]
    fold_values = pd.Series([2.0, 6.0, 8.0])
    assert summary["mean"] == pytest.approx(fold_values.mean())
    assert summary["standard_error"] == pytest.approx(fold_values.std() / 3**0.5)
    assert summary["folds"] == 3
    assert summary["seed_deviation"] == pytest.approx(np.sqrt(np.mean([2.0, 8.0, 2.0])))


def test_failed_seed_fails_its_fold() -> None:
    study = seeds_study(SEEDS)
    study.loc[3, list(FAILED)] = list(FAILED.values())
    folds = fold_means(study)
    assert folds["status"].tolist() == ["ok", "failed", "ok"]
    summary = summarise(study, "regression", "rmse").iloc[0]
    assert np.isnan(summary["mean"])
    assert summary["reason"] == "fold 1: seed 1: out of memory"


def test_a_fold_has_no_mean_of_some_of_its_seeds() -> None:
    study = seeds_study(SEEDS)
    study.loc[3, "test_rmse"] = np.nan
    assert fold_means(study)["test_rmse"].isna().tolist() == [False, True, False]


def test_undefined_metric_is_a_reason() -> None:
    study = benchmark_study()
    study.loc[0, "test_auroc"] = np.nan
    summary = summarise(study, "binary", "auroc").set_index("method")
    assert summary.loc["npt", "reason"] == "fold 0: no AUROC on its test rows"


def test_models_with_a_failure_are_left_out_as_a_whole() -> None:
    study = with_failure(benchmark_study())
    model = by_model(study)[0]
    assert (model.dataset, model.method, model.folds) == ("breast_cancer", "npt", 2)
    assert model.rows.empty
    assert model.reason == "fold 0: out of memory"
    rest = without_failures(study)
    assert len(rest) == 6
    assert without_failures(benchmark_study(**FAILED)).empty


def test_signed_rank_test_is_one_sided_and_needs_five_pairs() -> None:
    low = pd.Series([1.0, 2, 3, 4, 5])
    assert signed_rank_p(low, 2 * low) == pytest.approx(1 / 32)
    assert signed_rank_p(2 * low, low) == 1
    assert np.isnan(signed_rank_p(low[:4], low[:4] + 1))


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


def test_folds_that_some_models_lack_are_an_upper_bound() -> None:
    models = pd.DataFrame({"dataset": ["a", "a", "b"], "folds": [3, 3, 2]})
    assert datasets_and_folds(models) == "2 datasets × up to 3 folds"
    assert datasets_and_folds(models[1:].assign(dataset="a")) == "1 dataset × up to 3 folds"
    assert datasets_and_folds(models[:2]) == "1 dataset × 3 folds"
