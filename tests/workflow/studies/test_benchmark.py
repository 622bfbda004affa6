"""Tables, figures and sentences of a benchmark."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report.toy import (
    FAILED,
    SCORING,
    benchmark_study,
    fold_study,
    leading,
    random_study,
    texts,
    with_failure,
)
from tests.workflow.studies.frames import published_study
from workflow.presentation.sections import Section, Table
from workflow.presentation.statistics import fold_test
from workflow.studies import kinds
from workflow.studies.benchmark.scores import scores_answer
from workflow.studies.benchmark.view import curve_file

BENCHMARK = kinds()["benchmark"]
RANK_COLUMNS = ("Mean rank", "p, against the best")
BOARD_COLUMNS = ("Elo", "Win rate", "Improvability")


def table(name: str, study: pd.DataFrame) -> Table:
    return BENCHMARK.view.table(name, study, SCORING)


def scores_of(study: pd.DataFrame) -> Section:
    (section,) = table("scores", study).sections
    return section


def test_bencheval_has_an_error_of_each_method_and_fold() -> None:
    study = with_failure(benchmark_study())
    tidy = table("bencheval", study).tidy
    ok = study[study["status"] == "ok"]
    assert len(tidy) == len(ok)
    errors = tidy[tidy["metric"] == "auroc"]["metric_error"]
    assert errors.to_numpy() == pytest.approx(1 - ok["test_auroc"].dropna().to_numpy())


def test_ranks_are_compared_with_the_paper_s() -> None:
    ranks = table("ranks", benchmark_study())
    assert ranks.tidy[["task", "method", "mean_rank", "published"]].to_numpy().tolist() == [
        ["binary", "knn", 1, 2],
        ["binary", "npt", 2, 1],
        ["regression", "npt", 1, 1],
        ["regression", "knn", 2, 2],
    ]
    assert ranks.sections == ()  # two datasets
    first = table("ranks", published_study()).sections[0]
    assert "Paper" in first.columns
    assert first.title.endswith("over 4 datasets")


def test_others_have_no_ranks_of_the_paper() -> None:
    tuned = benchmark_study(variant="tuned").query("method == 'npt'")
    both = pd.concat([benchmark_study(), tuned], ignore_index=True)
    assert table("ranks", both).tidy["published"].isna().all()
    other = benchmark_study().replace({"dataset": {"breast_cancer": "wine"}})
    ranks = table("ranks", other)
    assert ranks.tidy.query("task == 'binary'")["published"].isna().all()
    unknown = published_study()
    unknown["dataset"] += "_2"
    sections = table("ranks", unknown).sections
    assert sections
    assert all("Paper" not in section.columns for section in sections)


def test_scores_tell_the_best_and_those_like_it() -> None:
    differences = {
        "knn": [1.0, 1.1, 0.9, 1.0, 1.1],
        "mlp": [0.1, -0.1, 0.3, -0.2, 0.1],
        "linear": [1.0] * 5,
    }
    study = fold_study(differences)
    study.loc[study["method"] == "knn", ["train_rows", "test_rows"]] = np.nan  # as others have
    scores = table("scores", study)
    (section,) = scores.sections
    npt, mlp, linear, knn = section.columns["Yacht, RMSE ↓"]
    assert [cell.bold for cell in (npt, mlp, linear, knn)] == [True, False, False, False]
    assert [cell.italic for cell in (npt, mlp, linear, knn)] == [False, True, False, False]
    assert [cell.text.endswith("†") for cell in (npt, mlp, linear, knn)] == [0, 0, 1, 0]
    tidy = scores.tidy.set_index("method")
    expected = fold_test(pd.Series(differences["knn"]), 1 / 7)[0]
    assert tidy.loc["knn", "p_value"] == pytest.approx(expected)
    assert expected < 0.05 < tidy.loc["mlp", "p_value"]
    assert any(tidy.loc["linear", "untested"] in note for note in section.notes)
    section = scores_of(benchmark_study())  # two folds, which are not tested
    assert not any(cell.italic for cells in section.columns.values() for cell in cells)
    assert not any("†" in note for note in section.notes)


def test_a_method_without_a_score_is_not_the_best() -> None:
    study = with_failure(benchmark_study().query("dataset == 'yacht'").reset_index(drop=True))
    answer = scores_answer(table("scores", study).tidy)
    assert "k-NN (" in answer
    assert "NPT" not in answer
    failures = study.assign(test_rmse=np.nan, **FAILED)
    assert scores_answer(table("scores", failures).tidy) == ""
    names = ("yacht", "concrete", "boston_housing")
    several = pd.concat([failures.assign(dataset=name) for name in names], ignore_index=True)
    assert scores_answer(table("scores", several).tidy) == ""


def test_an_answer_says_that_a_method_has_fewer_folds() -> None:
    study = fold_study({"knn": [0.1, 0.2, 0.3]}).iloc[:-1]
    assert scores_answer(table("scores", study).tidy).endswith("the best RMSE; up to 3 folds.")


def test_scores_of_a_single_method_are_named_instead_of_ranks() -> None:
    study = benchmark_study().query("dataset == 'yacht' and method == 'knn'")
    names = ("yacht", "concrete", "boston_housing")
    several = pd.concat([study.assign(dataset=name) for name in names], ignore_index=True)
    answer = scores_answer(table("scores", several).tidy)
    assert "rank" not in answer
    assert answer.count("k-NN (") == len(names)


@pytest.mark.parametrize(
    ("datasets", "columns", "figures"),
    [
        (2, [], []),
        (3, ["Mean rank"], ["ranks"]),
        (5, ["Mean rank", "p, against the best"], ["ranks", "critical_difference"]),
    ],
)
def test_ranks_take_three_datasets_and_tests_five(
    datasets: int, columns: list[str], figures: list[str]
) -> None:
    study = random_study(datasets, 4)
    section = scores_of(study)
    assert [title for title in section.columns if title in RANK_COLUMNS] == columns
    ranks = study.groupby("dataset")["test_rmse"].rank().groupby(study["method"]).mean()
    assert texts(section.columns["Method"]) == list(ranks.sort_values(kind="stable").index)
    if columns:
        assert leading(section.columns["Mean rank"]) == pytest.approx(sorted(ranks), abs=6e-3)
    assert BENCHMARK.view.shown_figures(study, SCORING) == [*figures, "curves"]


def test_failed_fold_is_a_dash_and_the_last_rank() -> None:
    study = with_failure(benchmark_study().query("dataset == 'breast_cancer'"))
    ranks = table("ranks", study).tidy.set_index("method")["mean_rank"]
    assert ranks.to_dict() == {"knn": 1, "npt": 2}
    metrics = table("metrics", study).sections[0]
    assert texts(metrics.columns["Breast Cancer"]) == ["–", "**0.610 ± 0.010**"]
    assert metrics.notes == ("– NPT on Breast Cancer: fold 0: out of memory",)


def test_results_are_compared_with_the_paper_s() -> None:
    study = benchmark_study().replace({"dataset": {"breast_cancer": "breast_cancer_legacy"}})
    tidy = table("published", study).tidy.set_index(["dataset", "method", "metric"])
    npt = tidy.loc["breast_cancer_legacy", "npt", "accuracy"]
    errors = (0.51 - 0.9473) / np.hypot(0.01, 0.0069)
    assert npt["standard_errors"] == pytest.approx(errors)
    assert tidy.loc["yacht", "knn", "rmse"]["published"] == 12.02
    assert tidy.loc["yacht", "knn", "mse"]["published"] == 149
    mse = tidy.loc["yacht", "npt", "mse"][["published", "published_error"]].tolist()
    assert mse == pytest.approx([1.8, 1.49 / 10**0.5])
    assert ("breast_cancer_legacy", "npt", "mse") not in tidy.index
    other = {"yacht": "yacht_of_mine", "breast_cancer": "higgs_legacy"}
    assert table("published", benchmark_study().replace({"dataset": other})).tidy.empty
    assert table("published", benchmark_study(variant="without_datapoints")).tidy.empty


def test_cost_is_that_of_the_search_with_the_paper_s() -> None:
    study = benchmark_study().replace({"dataset": {"breast_cancer": "protein"}})
    tidy = table("cost", study).tidy.set_index(["dataset", "method"])
    knn = tidy.loc["yacht", "knn"]
    assert (knn["configurations"], knn["grid"], knn["failed_configurations"]) == (480, 480, 1)
    assert (knn["search_seconds"], knn["peak_memory_mb"]) == (3700, 1234)
    assert tidy["paper_seconds"].notna().groupby("dataset").any().to_dict() == {
        "protein": True,
        "yacht": False,
    }


def test_ranks_are_tested_and_stand_alone_of_many_datasets() -> None:
    section = scores_of(published_study())
    assert leading(section.columns["Mean rank"])[0] == 2.75
    assert "**0.026**" in texts(section.columns["p, against the best"])  # TabNet
    section = scores_of(random_study(13, 4))
    assert list(section.columns) == ["Method", *RANK_COLUMNS, *BOARD_COLUMNS, "Seconds"]


def test_the_leaderboard_follows_from_the_scores() -> None:
    study = random_study(13, 4)
    section = scores_of(study)
    values = {name: leading(section.columns[name]) for name in ("Mean rank", *BOARD_COLUMNS)}
    ranks = np.array(values["Mean rank"])
    assert values["Win rate"] == pytest.approx(100 * (4 - ranks) / 3, abs=0.7)
    assert values["Elo"][0] == 1000  # the best, without a random forest
    assert values["Elo"] == sorted(values["Elo"], reverse=True)
    errors = study.pivot_table("test_rmse", "dataset", "method")
    gaps = 1 - errors.min(axis=1).to_numpy()[:, None] / errors
    expected = 100 * gaps.mean()[texts(section.columns["Method"])]
    assert values["Improvability"] == pytest.approx(list(expected), abs=0.5)
    assert "TabArena" in section.notes[0]
    failed = table("scores", with_failure(study)).tidy
    assert "on 13 datasets × 1 fold" in scores_answer(failed)
    undefined = study.assign(test_rmse=study["test_rmse"].mask(study.index == 0))
    for incomplete in (with_failure(study), undefined):
        section = scores_of(incomplete)
        assert not set(BOARD_COLUMNS) & set(section.columns)
        assert "TabArena" not in section.notes[0]
    forest = study.assign(method=study["method"].replace("m2", "random_forest"))
    section = scores_of(forest)
    elo = dict(zip(texts(section.columns["Method"]), section.columns["Elo"], strict=True))
    assert elo["Random Forest"].text == "1,000 (1,000 to 1,000)"
    least = study.assign(test_rmse=study["test_rmse"].mask(study["method"] == "m1", 100.0))
    section = scores_of(least)
    assert texts(section.columns["Elo"])[-1] == "–"


def test_elo_is_equal_where_scores_differ_by_rounding() -> None:
    study = random_study(6, 3)
    means = {"m0": np.mean([0.9, 0.8, 0.7]), "m1": np.mean([0.7, 0.8, 0.9])}
    study["test_rmse"] = study["method"].map(means).fillna(1 + study["test_rmse"])
    section = scores_of(study)
    assert leading(section.columns["Elo"])[:2] == [1000, 1000]


@pytest.mark.parametrize("name", BENCHMARK.view.tables)
def test_tables_show_the_reason_if_every_method_failed(name: str) -> None:
    study = benchmark_study().query("dataset == 'yacht'").assign(**FAILED)
    numbers = [column for column in study if column.startswith("test_")]
    result = table(name, study.drop(columns=numbers))
    assert not result.sections or all(section.columns for section in result.sections)


@pytest.mark.parametrize("name", [name for name in BENCHMARK.view.figures if name != "curves"])
def test_figures_label_every_method(name: str) -> None:
    figure = BENCHMARK.view.figure(name, benchmark_study(), SCORING)
    labels = {text.get_text() for axis in figure.axes for text in axis.get_yticklabels()}
    labels |= {text.get_text() for axis in figure.axes for text in axis.texts}
    labels |= {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    text = " ".join(labels)
    assert "NPT" in text
    assert "k-NN" in text


def test_diagram_joins_methods_that_do_not_differ() -> None:
    axis = BENCHMARK.view.figure("critical_difference", published_study(), SCORING).axes[0]
    assert [line.get_linewidth() for line in axis.lines].count(2.5) == 3
    assert "p = 1.0e−04" in axis.get_title()
    axis = BENCHMARK.view.figure("critical_difference", random_study(5, 7), SCORING).axes[0]
    assert [line.get_linewidth() for line in axis.lines].count(2.5) == 1


def test_curves_are_those_of_the_files_beside_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = benchmark_study()
    searched = json.dumps({"configuration": "trial_02"})
    study = study.assign(chosen=study["fold"].map({0: None, 1: searched}))
    npt = study[(study["method"] == "npt") & (study["dataset"] == "yacht")]
    folder = Path("results/runs/yacht/npt/base/seed_0")
    for row, name in zip(npt.to_dict("records"), ("folds_0", "folds_1.trial_02"), strict=True):
        path = folder / f"{name}.metrics.csv"
        assert curve_file(row) == path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("update,train_loss,validation_loss\n10,1,0.5\n20,0.5,0.25\n")
    (axis,) = BENCHMARK.view.figure("curves", study, SCORING).axes
    assert axis.get_title() == "NPT\nYacht"
    lines = [list(line.get_ydata()) for line in axis.lines if len(line.get_ydata())]
    assert sorted(lines) == [[0.5, 0.25]] * 2 + [[1, 0.5]] * 2
