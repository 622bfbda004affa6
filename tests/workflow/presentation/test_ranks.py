import numpy as np
import pandas as pd
import pytest
from scipy import stats

from npt.errors import UserError
from tests.workflow.report.toy import FAILED, SCORING, random_study
from tests.workflow.studies.frames import published_study
from workflow.presentation.published import published, published_ranks
from workflow.presentation.ranks import mean_ranks, rank_methods, rank_tests, sign_flip_p_value

Means = dict[str, dict[str, float | None]]
TABLE_1 = published()["table_1_average_rank"]
NPT = ("npt", "base")


def summary(means: Means, reasons: dict[tuple[str, str], str] | None = None) -> pd.DataFrame:
    """Means by dataset and method; None has no mean."""
    rows = []
    for dataset, by_method in means.items():
        for method, mean in by_method.items():
            reason = (reasons or {}).get((dataset, method), "")
            row = {"dataset": dataset, "method": method, "variant": "base", "reason": reason}
            rows.append({**row, "mean": np.nan if mean is None else mean})
    return pd.DataFrame(rows)


def test_ranks_of_three_by_three_with_a_tie() -> None:
    means: Means = {
        "a": {"x": 1, "y": 2, "z": 3},
        "b": {"x": 5, "y": 5, "z": 1},
        "c": {"x": 1, "y": 3, "z": 2},
    }
    ranked = rank_methods(summary(means), higher_is_better=False)
    ranks = ranked.pivot(index="dataset", columns="method", values="rank")
    assert ranks.to_numpy().tolist() == [[1, 2, 3], [2.5, 2.5, 1], [1, 3, 2]]
    averaged = mean_ranks(ranked)
    assert averaged["method"].tolist() == ["x", "z", "y"]
    assert averaged["mean_rank"].tolist() == pytest.approx([1.5, 2, 2.5])
    errors = averaged["standard_error"].tolist()
    assert errors == pytest.approx([0.5, 1 / 3**0.5, 0.5 / 3**0.5])


def test_means_that_differ_by_rounding_share_a_rank() -> None:
    means: Means = {"a": {"x": np.mean([0.9, 0.8, 0.7]), "y": np.mean([0.7, 0.8, 0.9])}}
    assert means["a"]["x"] != means["a"]["y"]
    assert rank_methods(summary(means), higher_is_better=True)["rank"].tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    "means", [{"a": {"x": 1, "y": None, "z": 3}}, {"a": {"x": 1, "y": 2}, "b": {"x": 1}}]
)
def test_hole_without_a_reason_is_refused(means: Means) -> None:
    with pytest.raises(UserError, match="y"):
        rank_methods(summary(means), higher_is_better=False)


def rounded(value: float) -> str:
    """Two decimals, half up, as the paper rounds."""
    return f"{np.floor(value * 100 + 0.5 + 1e-9) / 100:.2f}"


@pytest.mark.parametrize("metric", ["auroc", "accuracy", "rmse"])
def test_table_1_to_the_digit_with_its_conventions(metric: str) -> None:
    """From the values of the table behind it."""
    column = TABLE_1[metric]
    ranks = published_ranks(metric, column["datasets"], list(column["rank"]), "paper")
    assert ranks is not None
    cells = {}
    for row in ranks.to_dict("records"):
        cells[row["method"]] = f"{rounded(row['mean_rank'])}±{rounded(row['standard_error'])}"
    assert cells == {method: cell["printed"] for method, cell in column["rank"].items()}


def test_ranking_of_the_paper_orders_equals() -> None:
    means: Means = {"a": {"npt": 1, "own": 1, "knn": 1, "tabnet": 0.5, "mlp": None}}
    frame = summary(means, {("a", "mlp"): "out of memory"})
    ranked = rank_methods(frame, higher_is_better=True, ranking="paper")
    ranks = ranked.set_index("method")["rank"].to_dict()
    assert ranks == {"knn": 1, "npt": 2, "own": 3, "tabnet": 4, "mlp": 5}
    assert list(ranked["method"]) == ["npt", "own", "knn", "tabnet", "mlp"]


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
