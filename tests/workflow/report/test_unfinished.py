"""Tables and figures of studies of which results are missing."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.markdown import markdown
from workflow.studies import kinds

UNFINISHED = {"status": "unfinished", "reason": "not begun"}
KINDS = kinds().values()
TABLES = [(kind.name, table) for kind in KINDS for table in kind.tables]
FIGURES = [(kind.name, figure) for kind in KINDS for figure in kind.figures]
BENCHMARK = kinds()["benchmark"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def partial_study() -> pd.DataFrame:
    """A benchmark without the result of NPT on a fold of Yacht."""
    study = benchmark_study()
    missing = (study["dataset"] == "yacht") & (study["method"] == "npt") & (study["fold"] == 1)
    study.loc[missing, ["test_rmse", *UNFINISHED]] = [np.nan, *UNFINISHED.values()]
    return study


def empty_study() -> pd.DataFrame:
    """A study of which nothing is finished."""
    study = benchmark_study(**UNFINISHED)
    numbers = [name for name in study if name.startswith("test_") or name.endswith("_seconds")]
    return study.drop(columns=numbers)


def test_dataset_with_a_missing_result_is_not_ranked() -> None:
    table = BENCHMARK.table("ranks", partial_study(), SCORING)
    means = table.tidy.set_index(["task", "method"])["mean_rank"]
    assert means["binary"].to_dict() == {"knn": 1, "npt": 2}
    assert means["regression"].isna().all()
    (scores,) = BENCHMARK.table("scores", partial_study(), SCORING).sections
    assert any(note.endswith("missing: Yacht.") for note in scores.notes)


def test_other_methods_of_the_dataset_have_their_means() -> None:
    tidy = BENCHMARK.table("metrics", partial_study(), SCORING).tidy
    means = tidy.set_index(["dataset", "method", "metric"])["mean"]
    assert means["yacht", "knn", "rmse"] > 0
    assert np.isnan(means["yacht", "npt", "rmse"])


def test_dataset_with_a_missing_result_is_not_tested() -> None:
    tidy = BENCHMARK.table("fold_tests", partial_study(), SCORING).tidy
    assert tidy.set_index("dataset").loc[["yacht"], "p_value"].isna().all()


def test_variants_are_not_ranked_before_all_folds() -> None:
    study = partial_study().assign(validation_loss=1.0)
    table = kinds()["ablation"].table("validation_ranks", study, SCORING)
    assert set(table.tidy["dataset"]) == {"breast_cancer"}


@pytest.mark.parametrize(("kind", "table"), TABLES)
def test_tables_take_a_study_without_results(kind: str, table: str) -> None:
    assert markdown(kinds()[kind].table(table, empty_study(), SCORING), "toy")


@pytest.mark.parametrize(("kind", "figure"), FIGURES)
def test_figures_take_a_study_without_results(kind: str, figure: str) -> None:
    assert kinds()[kind].figure(figure, empty_study(), SCORING)
