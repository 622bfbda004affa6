from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsRegressor

from baselines import knn, methods, tabnet
from baselines.search import Baseline, BaselineSettings, SearchLearner, size_of
from npt.encoding import one_hot_features, statistics
from npt.interface import TASKS, Infeasible, Resources, Split, Table, UserError
from tests.conftest import first_split, make_table

BASELINES: dict[str, Baseline] = {
    name: method.build(BaselineSettings(), Resources()).baseline  # type: ignore[attr-defined]
    for name, method in methods().items()
    if name != "npt"
}
COUNTS = {
    "random_forest": 24, "gradient_boosting": 48, "xgboost": 48, "lightgbm": 48, "catboost": 48, "knn": 480, "mlp": 11_340,
    "tabnet": 48,
}  # fmt: skip


def points(baseline: Baseline, grid: str, task: str, rows: int = 100) -> list[dict[str, object]]:
    return list(baseline.configurations(BaselineSettings(grid), task, rows))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COUNTS)
def test_the_paper_s_grids_have_the_paper_s_sizes_and_hold_the_quick_ones(name: str) -> None:
    for task in TASKS:
        paper, quick = points(BASELINES[name], "paper", task), points(BASELINES[name], "quick", task)
        assert len(paper) == COUNTS[name]
        assert 0 < len(quick) <= 20
        assert all(point in paper for point in quick)


@pytest.mark.parametrize(("name", "medium", "large"), [("knn", 40, 40), ("mlp", 270, 270), ("tabnet", 7, 7)])
def test_grids_of_larger_tables(name: str, medium: int, large: int) -> None:
    assert len(points(BASELINES[name], "paper", "binary", 50_000)) == medium
    assert len(points(BASELINES[name], "paper", "binary", 500_000)) == large
    assert [size_of(rows) for rows in (720, 21_883, 174_582, 406_707)] == ["small", "medium", "medium", "large"]


@pytest.mark.parametrize(
    ("name", "estimator", "task", "scoring"),
    [
        ("knn", KNeighborsRegressor(), "regression", "neg_mean_squared_error"),
        ("gradient_boosting", GradientBoostingRegressor(random_state=42), "regression", "neg_mean_squared_error"),
        ("random_forest", RandomForestClassifier(random_state=42), "binary", "neg_log_loss"),
    ],
)
def test_the_search_equals_scikit_learn_s_over_the_same_rows(name: str, estimator: object, task: str, scoring: str) -> None:
    table = make_table(task, 150)  # type: ignore[arg-type]
    split = first_split(table)
    learner = SearchLearner(BASELINES[name], BaselineSettings("quick"), Resources())
    fit = learner.fit(table.blind(split.test), split, 0)
    known = statistics(table, split)
    rows = np.concatenate([split.train, split.validation])
    target = ((table.truth - known.centre[table.target]) / known.scale[table.target])[rows]
    folds = PredefinedSplit([-1] * len(split.train) + [0] * len(split.validation))
    grid = {key: list(values) for key, values in BASELINES[name].quick(table.task).items()}
    theirs = GridSearchCV(estimator, grid, scoring=scoring, cv=folds, refit=False)
    theirs.fit(one_hot_features(table, known)[rows], target)
    assert fit.validation_loss == pytest.approx(-theirs.best_score_, rel=1e-10)
    assert fit.fits == len(theirs.cv_results_["params"])
    assert fit.chosen == theirs.best_params_


def counted(scores: list[float]) -> tuple[Baseline, list[int]]:
    """A baseline whose i-th configuration predicts scores[i] everywhere."""
    fitted: list[int] = []

    def fit(data, parameters, seed, resources):  # type: ignore[no-untyped-def]
        fitted.append(parameters["i"])
        return lambda features: np.full(len(features), scores[parameters["i"]])

    grid = {"i": list(range(len(scores)))}
    return Baseline("toy", "Toy", fit, lambda task: grid, lambda task, size: grid), fitted


def test_ties_go_to_the_first_configuration_and_each_is_fitted_once() -> None:
    table = make_table("regression")
    baseline, fitted = counted([3.0, 0.0, 0.0, 5.0])
    fit = SearchLearner(baseline, BaselineSettings(), Resources()).fit(table, first_split(table), 0)
    assert (fit.chosen, fitted) == ({"i": 1}, [0, 1, 2, 3])


def test_a_score_that_is_not_a_number_is_never_chosen_silently() -> None:
    table = make_table("regression")
    baseline, _ = counted([1.0, float("nan")])
    with pytest.raises(Infeasible, match="not a number"):
        SearchLearner(baseline, BaselineSettings(), Resources()).fit(table, first_split(table), 0)


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_a_class_without_train_rows_keeps_its_place(name: str) -> None:
    table = make_table("multiclass")
    split = first_split(table)
    without = split.train[table.truth[split.train] != 1]
    rest = np.setdiff1d(np.arange(table.rows), np.concatenate([without, split.test]))
    settings = BaselineSettings("quick", {"max_epochs": 2} if name == "tabnet" else {})
    learner = SearchLearner(BASELINES[name], settings, Resources())
    if name == "knn":
        learner.settings = BaselineSettings({"n_neighbors": [5], "weights": ["uniform"]})
    learner.fit(table.blind(split.test), Split(0, without, rest, split.test), 0)
    predicted = learner.predict(split.test).values
    assert predicted.shape == (len(split.test), 3)
    assert (predicted[:, 1] == 0).all()
    assert predicted.sum(1) == pytest.approx(np.ones(len(split.test)))


@pytest.mark.parametrize(
    ("train_rows", "batch", "virtual"), [(33, 32, 16), (34, 32, 16), (20, 32, 16), (33, 32, 4), (41, 64, 4), (45, 32, 4)]
)
def test_tabnet_trains_whatever_its_batches_leave_over(train_rows: int, batch: int, virtual: int) -> None:
    table = make_table("regression")
    changed = {**tabnet.DEFAULT, "batch_size": batch, "virtual_batch_size": virtual}
    settings = BaselineSettings({key: [value] for key, value in changed.items()}, {"max_epochs": 30, "patience": 30})
    learner = SearchLearner(BASELINES["tabnet"], settings, Resources())
    split = Split(0, np.arange(train_rows), np.arange(train_rows, 50), np.arange(50, 60))
    learner.fit(table, split, 0)
    assert learner.predict(split.train).values.std() > 0.1 * table.truth.std()


def test_tabnet_is_stopped_early_also_where_the_validation_rows_lack_a_class() -> None:
    table = make_table("multiclass")
    split = first_split(table)
    lacking = split.validation[table.truth[split.validation] != 2]
    rest = np.setdiff1d(np.arange(table.rows), np.concatenate([lacking, split.test]))
    learner = SearchLearner(BASELINES["tabnet"], BaselineSettings("quick", {"max_epochs": 3}), Resources())
    assert np.isfinite(learner.fit(table, Split(0, rest, lacking, split.test), 0).validation_loss)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_single_target_value_is_a_reason(task: str) -> None:
    table = make_table(task)  # type: ignore[arg-type]
    table.values[:, table.target] = 1
    with pytest.raises(Infeasible, match="single target value"):
        SearchLearner(BASELINES["mlp"], BaselineSettings("quick"), Resources()).fit(table, first_split(table), 0)


def test_too_few_rows_for_the_neighbours_is_a_reason() -> None:
    table = make_table("binary", 20)
    with pytest.raises(Infeasible, match="more than the"):
        SearchLearner(knn.BASELINE, BaselineSettings("quick"), Resources()).fit(table, first_split(table), 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [(BaselineSettings("fast"), "allowed: paper, quick"), (BaselineSettings({"neighbors": [1]}), r"knn\.grid\.neighbors")],
)
def test_an_unknown_grid_is_refused(settings: BaselineSettings, message: str) -> None:
    with pytest.raises(UserError, match=message):
        next(knn.BASELINE.configurations(settings, "binary", 10))


def test_the_order_of_configurations_is_the_grid_s() -> None:
    grid = {"n_neighbors": [1, 2], "p": [1, 2]}
    found = list(knn.BASELINE.configurations(BaselineSettings(grid), "binary", 10))
    assert [tuple(point.values()) for point in found] == list(itertools.product([1, 2], [1, 2]))


def test_a_budget_is_a_subset_of_the_grid_the_same_every_time() -> None:
    every = list(knn.BASELINE.configurations(BaselineSettings("paper"), "binary", 10))
    for budget in (1, 7, len(every), len(every) + 1):
        settings = BaselineSettings("paper", budget=budget)
        drawn = list(knn.BASELINE.configurations(settings, "binary", 10))
        assert len(drawn) == min(budget, len(every))
        assert drawn == [point for point in every if point in drawn]
        assert drawn == list(knn.BASELINE.configurations(settings, "binary", 10))
    with pytest.raises(UserError, match="budget: 0"):
        BaselineSettings(budget=0)


def test_missing_targets_are_left_out_of_training() -> None:
    table = make_table("regression")
    split = first_split(table)
    holes: Table = replace(table, values=table.values.copy())
    holes.values[split.train[:3], table.target] = np.nan
    holes.values[split.validation[:3], table.target] = np.nan
    learner = SearchLearner(BASELINES["gradient_boosting"], BaselineSettings({"n_estimators": [5]}), Resources())
    assert np.isfinite(learner.fit(holes, split, 0).validation_loss)
