"""Tests over datasets against their definitions and other implementations."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.workflow.report.toy import FAILED, SCORING, random_study
from tests.workflow.studies.frames import published_study
from workflow.report.ranks import rank_tests, sign_flip_p_value

NPT = ("npt", "base")


def paper(datasets: int = 10) -> pd.DataFrame:
    """The paper's printed results on the first of its datasets."""
    study = published_study()
    return study[study["dataset"].isin(study["dataset"].unique()[:datasets])]


def test_friedman_and_nemenyi_on_the_paper() -> None:
    from scikit_posthocs import posthoc_nemenyi_friedman

    tests = rank_tests(paper(), SCORING)
    assert tests.refusal == ""
    assert tests.ranks.shape == (10, 9)
    assert tests.ranks.columns[0] == NPT
    columns = [tests.ranks[name] for name in tests.ranks]
    assert stats.friedmanchisquare(*columns).pvalue < 1e-4
    assert tests.p_value == pytest.approx(1e-4)  # the smallest of 9,999 permutations
    expected = posthoc_nemenyi_friedman(tests.ranks.to_numpy()).to_numpy()
    assert tests.pairs.to_numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("study", "noun"),
    [(paper(datasets=4), "4 datasets"), (paper().query("method in ('npt', 'knn')"), "2 methods")],
)
def test_too_few_datasets_or_methods_are_refused(study: pd.DataFrame, noun: str) -> None:
    tests = rank_tests(study, SCORING)
    assert tests.refusal.startswith(noun)
    assert np.isnan(tests.p_value)


def test_missing_rank_is_refused() -> None:
    study = random_study(6, 4).assign(task=["regression"] * 16 + ["binary"] * 8)
    study["test_auroc"] = np.random.default_rng(1).random(len(study))
    partial = study.query("not (task == 'binary' and method == 'm3')")
    assert rank_tests(partial, SCORING).refusal == "m3 has no rank on d4"


def test_nemenyi_takes_the_ranks_of_failures_as_they_are() -> None:
    study = random_study(8, 4)
    study["test_rmse"] = study.groupby("dataset").cumcount().astype(float)
    failed = study["method"].isin(["m2", "m3"])
    study.loc[failed, ["test_rmse", *FAILED]] = [np.nan, *FAILED.values()]
    tests = rank_tests(study, SCORING)
    assert tests.ranks.mean().tolist() == [1, 2, 4, 4]
    distance = 2 / np.sqrt(4 * 5 / (6 * 8)) * np.sqrt(2)
    expected = stats.studentized_range.sf(distance, 4, np.inf)
    assert tests.pairs.loc[("m1", "base"), ("m2", "base")] == pytest.approx(expected)


def test_sign_flips_of_few_datasets_are_all_combinations() -> None:
    assert sign_flip_p_value(pd.Series([1.0, 2, 3, 4, 5, 6])) == pytest.approx(2 / 2**6)
    assert sign_flip_p_value(pd.Series([1.0, -1, 2, -2, 3, -3])) == 1
