"""Tests over datasets and folds against what they are defined to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from npt.metrics import PAPER_METRICS
from workflow.config.scoring import Scoring
from workflow.report.figures import FIGURES
from workflow.report.old_fold_tests import corrected_test, over_folds
from workflow.report.headline import headline
from workflow.report.published import published_study
from workflow.report.old_rank_tests import over_datasets, rank_tests
from workflow.report.summary import standard_error

SCORING = Scoring(PAPER_METRICS)


def paper(datasets: int = 10) -> pd.DataFrame:
    """The paper's printed results on the first so many of its datasets."""
    study = published_study()
    return study[study["dataset"].isin(study["dataset"].unique()[:datasets])]


def folds(differences: dict[str, list[float]], **more: Any) -> pd.DataFrame:
    """A regression study of NPT at 1 and other methods at 1 plus differences; 70 training and 10 test rows."""
    rows = [
        {"dataset": "yacht", "task": "regression", "method": method, "variant": "base", "fold": fold, "status": "ok",
         "reason": "", "train_rows": 70, "test_rows": 10, "test_rmse": 1 + difference}
        for method, values in {"npt": [0.0] * len(next(iter(differences.values()))), **differences}.items()
        for fold, difference in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**more)


def test_friedman_and_nemenyi_over_the_paper_s_ten_datasets() -> None:
    tests = rank_tests(paper(), SCORING)
    assert tests.refusal == ""
    assert tests.ranks.shape == (10, 9)
    ranks = [tests.ranks[name] for name in tests.ranks]
    assert stats.friedmanchisquare(*ranks).pvalue < 1e-4
    assert tests.p_value == pytest.approx(1e-4)  # the smallest that 9,999 permutations can give
    for one, two in (
        (("npt", "base"), ("tabnet", "base")),
        (("npt", "base"), ("catboost", "base")),
    ):
        distance = abs(tests.ranks[one].mean() - tests.ranks[two].mean()) / np.sqrt(
            9 * 10 / (6 * 10)
        )
        assert tests.pairs.loc[one, two] == pytest.approx(
            stats.studentized_range.sf(distance * np.sqrt(2), 9, np.inf), abs=1e-6
        )
    assert tests.order[0] == ("npt", "base")
    means = tests.ranks.mean()
    assert ((tests.low <= means) & (means <= tests.high)).all()
    assert tests.low.min() >= 1 and tests.high.max() <= 9


def test_the_table_says_that_methods_differ_and_which() -> None:
    table = over_datasets(paper(), SCORING)
    first, second = table.sections
    assert first.cells.iloc[0].tolist() == ["NPT", "2.75", "1.70 to 3.90"]
    assert any("p = 1.0e−04" in note and note.endswith("Methods differ.") for note in first.notes)
    assert second.cells.set_index("Method").loc["NPT", "TabNet"] == "**0.026**"
    assert len(table.tidy) == 9 + 1 + 36
    same = paper().assign(test_auroc=0.5, test_accuracy=0.5, test_rmse=0.5, status="ok")
    assert (
        over_datasets(same, SCORING)
        .sections[0]
        .notes[-1]
        .endswith("no two methods are shown to differ.")
    )
    assert len(over_datasets(same, SCORING).sections) == 1


def test_the_same_ranks_give_the_same_tests() -> None:
    one, two = (over_datasets(paper(), SCORING).tidy for _ in range(2))
    pd.testing.assert_frame_equal(one, two)


def test_too_few_datasets_or_methods_are_refused_in_table_figure_and_headline() -> None:
    few = paper(datasets=4)
    text = "4 datasets: too few for a test over datasets, at least 5 are needed"
    table = over_datasets(few, SCORING)
    assert set(table.tidy["reason"]) == {text} and table.tidy["p_value"].isna().all()
    assert table.sections[0].notes[-1] == f"No test: {text}."
    assert list(table.sections[0].cells) == ["Method", "Mean rank"]
    assert text in FIGURES["critical_difference"](few, SCORING).axes[0].get_title()
    assert "too few for a test" in headline({"main": few}, {"main": "benchmark"}, SCORING)
    two = paper().query("method in ('npt', 'knn')")
    assert "2 methods: too few" in rank_tests(two, SCORING).refusal


def test_the_diagram_joins_what_is_not_told_apart() -> None:
    axis = FIGURES["critical_difference"](paper(), SCORING).axes[0]
    bars = [line for line in axis.lines if line.get_linewidth() == 2.5]
    assert len(bars) == 3
    assert "Friedman's test: p = 1.0e−04" in axis.get_title()


def test_the_corrected_test_of_folds_by_hand() -> None:
    differences = np.array([1.0, 2.0, 3.0])
    found = corrected_test(differences, 10 / 70)
    error = np.sqrt((1 / 3 + 1 / 7) * 1.0)
    assert found["difference"] == 2
    assert found["standard_error"] == pytest.approx(error)
    assert found["p_value"] == pytest.approx(2 * stats.t.sf(2 / error, 2))
    assert (found["low"], found["high"]) == pytest.approx(
        (2 - stats.t.ppf(0.975, 2) * error, 2 + stats.t.ppf(0.975, 2) * error)
    )
    assert (
        found["p_value"] > stats.ttest_1samp(differences, 0).pvalue
    )  # it doubts more than a test of independent folds


def test_differences_are_paired_over_folds_and_corrected_by_holm() -> None:
    table = over_folds(folds({"knn": [1.0, 2.0, 3.0], "mlp": [0.1, -0.1, 0.3]}), SCORING)
    tidy = table.tidy.set_index("method")
    assert tidy.loc["knn", "p_holm"] == pytest.approx(2 * tidy.loc["knn", "p_value"])
    assert tidy.loc["mlp", "p_holm"] == pytest.approx(
        max(tidy.loc["mlp", "p_value"], 2 * tidy.loc["knn", "p_value"])
    )
    assert table.sections[0].title == "Yacht: RMSE (lower is better), paired over folds with NPT"
    assert table.sections[0].cells.iloc[0].tolist()[:3] == ["k-NN", "3", "+2.000 ± 0.690"]


@pytest.mark.parametrize(
    ("study", "reason"),
    [
        (folds({"knn": [1.0, 2.0]}), "2 folds: too few for a test, at least 3 are needed"),
        (folds({"knn": [1.0, 1.0, 1.0]}), "the same difference on every fold"),
        (
            folds({"knn": [1.0, 2.0, 3.0]}).drop(columns="train_rows"),
            "these rows do not tell how many rows a fold trained on",
        ),
        (
            folds({"knn": [1.0, 2.0, 3.0]}, status="failed", reason="out of memory"),
            "k-NN, fold 0: out of memory",
        ),
    ],
)
def test_a_test_over_folds_is_refused_with_the_reason(study: pd.DataFrame, reason: str) -> None:
    table = over_folds(study, SCORING)
    assert table.tidy["reason"].tolist() == [reason]
    assert table.tidy["p_holm"].isna().all()
    assert table.sections[0].notes == (f"No test: {reason}.",)


def test_one_method_alone_is_compared_with_nothing() -> None:
    alone = folds({"knn": [1.0, 2.0, 3.0]}).query("method == 'npt'")
    assert over_folds(alone, SCORING).sections == ()


def test_differences_that_vary_by_rounding_alone_are_no_evidence() -> None:
    study = folds({"knn": [1.0, 1.0, 1.0]})
    for fold, value in enumerate((17, 16, 15)):
        study.loc[(study["fold"] == fold) & (study["method"] == "npt"), "test_rmse"] = value / 18
        study.loc[(study["fold"] == fold) & (study["method"] == "knn"), "test_rmse"] = (
            value + 1
        ) / 18
    assert over_folds(study, SCORING).tidy["reason"].tolist() == [
        "the same difference on every fold"
    ]
    assert standard_error(pd.Series([18 / 18 - 17 / 18, 17 / 18 - 16 / 18, 16 / 18 - 15 / 18])) == 0
    assert standard_error(pd.Series([0.7, 0.1 + 0.6, 0.7])) == 0


def noise(datasets: int, methods: int, fold: int = 0) -> pd.DataFrame:
    values = np.random.default_rng(fold).random((datasets, methods))
    common = {"task": "regression", "variant": "base", "fold": 0, "status": "ok", "reason": ""}
    places = [(d, m) for d in range(datasets) for m in range(methods)]
    return pd.DataFrame(
        [
            {"dataset": f"d{d}", "method": f"m{m}", **common, "test_rmse": values[d, m]}
            for d, m in places
        ]
    )


def test_without_friedman_no_two_methods_are_told_apart() -> None:
    study = noise(5, 7)
    tests = rank_tests(study, SCORING)
    assert tests.p_value > 0.05
    assert (tests.pairs == 1).all(axis=None)
    assert "nemenyi" not in set(over_datasets(study, SCORING).tidy["test"])
    axis = FIGURES["critical_difference"](study, SCORING).axes[0]
    assert "no two are told apart" in axis.get_title()
    assert len([line for line in axis.lines if line.get_linewidth() == 2.5]) == 1


def test_a_method_without_a_rank_somewhere_is_no_ground_for_a_test() -> None:
    study = noise(6, 4).assign(task=["regression"] * 16 + ["binary"] * 8, test_auroc=0.5)
    study["test_auroc"] = np.random.default_rng(1).random(len(study))
    whole = study.query("not (task == 'binary' and method == 'm3')")
    assert rank_tests(whole, SCORING).refusal == "m3 has no rank on d4"
    assert over_datasets(whole, SCORING).tidy["p_value"].isna().all()


def test_nemenyi_is_of_the_ranks_that_are_shown() -> None:
    study = noise(8, 4)
    order = study.groupby("dataset").cumcount()
    study["test_rmse"] = order.astype(float)
    study.loc[study["method"].isin(["m2", "m3"]), ["status", "reason", "test_rmse"]] = [
        "failed",
        "out of memory",
        np.nan,
    ]
    tests = rank_tests(study, SCORING)
    assert tests.ranks.mean().tolist() == [1, 2, 4, 4]
    distance = 2 / np.sqrt(4 * 5 / (6 * 8)) * np.sqrt(2)
    expected = stats.studentized_range.sf(distance, 4, np.inf)
    assert tests.pairs.loc[("m1", "base"), ("m2", "base")] == pytest.approx(expected)
