from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from baselines import knn, methods, tabnet
from baselines.declaration import Baseline, BaselineSettings, shares_nothing, size_of, training_data
from baselines.search import SearchLearner
from npt.interface import Fit, Infeasible, Resources, UserError
from npt.table import TASKS, Split, Table, Task
from tests.conftest import first_split, make_table

BASELINES: dict[str, Baseline] = {
    name: method.build(BaselineSettings(), Resources()).baseline  # type: ignore[attr-defined]
    for name, method in methods().items()
    if method.searches
}
COUNTS = {
    "random_forest": 24, "gradient_boosting": 48, "xgboost": 48, "lightgbm": 48, "catboost": 48, "knn": 480, "mlp": 11_340,
    "tabnet": 48, "deep_kernel_learning": 16,
}  # fmt: skip


def points(baseline: Baseline, grid: str, task: str, rows: int = 100) -> list[dict[str, object]]:
    return list(baseline.configurations(BaselineSettings(grid), task, rows))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COUNTS)
def test_the_paper_s_grids_have_the_paper_s_sizes_and_hold_the_quick_ones(name: str) -> None:
    for task in TASKS:
        if BASELINES[name].supports(task):
            continue
        paper, quick = (
            points(BASELINES[name], "paper", task),
            points(BASELINES[name], "quick", task),
        )
        assert len(paper) == COUNTS[name]
        assert 0 < len(quick) <= 20
        assert all(point in paper for point in quick)


@pytest.mark.parametrize(
    ("name", "medium", "large"), [("knn", 40, 40), ("mlp", 270, 270), ("tabnet", 7, 7)]
)
def test_grids_of_larger_tables(name: str, medium: int, large: int) -> None:
    assert len(points(BASELINES[name], "paper", "binary", 50_000)) == medium
    assert len(points(BASELINES[name], "paper", "binary", 500_000)) == large
    assert [size_of(rows) for rows in (720, 21_883, 174_582, 406_707)] == [
        "small",
        "medium",
        "medium",
        "large",
    ]


Answer = float | Exception


def counted(answers: list[Answer], serves_all: bool = False) -> tuple[Baseline, list[list[int]]]:
    """A baseline whose i-th configuration predicts answers[i] everywhere, or raises it; and what was fitted together."""
    fitted: list[list[int]] = []

    def fit(data, configurations, seed, resources):  # type: ignore[no-untyped-def]
        fitted.append([one["i"] for one in configurations])
        for one in configurations:
            if isinstance(answer := answers[one["i"]], Exception):
                raise answer
        return lambda features, wanted: [
            np.full(len(features), answers[one["i"]]) for one in wanted
        ]

    grid = {"i": list(range(len(answers)))}
    shared = (lambda parameters: ("i",)) if serves_all else shares_nothing
    return Baseline(
        "toy", "Toy", fit, lambda task: grid, lambda task, size: grid, shared=shared
    ), fitted


def searched(baseline: Baseline, settings: BaselineSettings | None = None) -> Fit:
    table = make_table("regression")
    return SearchLearner(baseline, settings or BaselineSettings(), Resources()).fit(
        table, first_split(table), 0
    )


def test_ties_go_to_the_first_configuration_and_each_is_fitted_once() -> None:
    baseline, fitted = counted([3.0, 0.0, 0.0, 5.0])
    fit = searched(baseline)
    assert (fit.chosen, fitted, fit.fits, fit.grid) == ({"i": 1}, [[0], [1], [2], [3]], 4, 4)


def test_configurations_that_a_model_serves_are_fitted_together() -> None:
    baseline, fitted = counted([3.0, 0.0, 0.0, 5.0], serves_all=True)
    fit = searched(baseline)
    assert (fit.chosen, fitted, fit.fits) == ({"i": 1}, [[0, 1, 2, 3]], 1)
    assert [trial.fit for trial in fit.trials] == [1, 1, 1, 1]


@pytest.mark.parametrize("serves_all", [False, True])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (float("nan"), "the validation loss is nan"),
        (float("inf"), "the validation loss is inf"),
        (ValueError("no\nluck"), "ValueError: no luck"),
        (MemoryError(), "MemoryError"),
        (Infeasible("too few rows"), "too few rows"),
    ],
)
def test_a_configuration_that_fails_has_a_reason_and_takes_no_other_with_it(
    answer: Answer, reason: str, serves_all: bool
) -> None:
    baseline, _ = counted([3.0, answer, 0.0], serves_all)
    fit = searched(baseline)
    assert fit.chosen == {"i": 2}
    assert [trial.reason for trial in fit.trials] == ["", reason, ""]
    assert [math.isfinite(trial.validation_loss) for trial in fit.trials] == [True, False, True]


def test_if_all_configurations_fail_so_does_the_method() -> None:
    baseline, _ = counted([float("nan"), ValueError("no luck")])
    with pytest.raises(
        Infeasible,
        match="none of the 2 configurations could be fitted and scored: the validation loss is nan",
    ) as raised:
        searched(baseline)
    assert [trial.reason for trial in raised.value.trials] == [
        "the validation loss is nan",
        "ValueError: no luck",
    ]


def test_a_mistake_of_the_user_is_no_failed_configuration() -> None:
    for name, baseline in BASELINES.items():
        with pytest.raises(UserError, match="fixed: 'max_dept' is unknown"):
            searched(baseline, BaselineSettings("quick", {"max_dept": 3}))
        tuned = next(iter(baseline.quick("regression")))
        with pytest.raises(UserError, match=rf"{name}\.fixed\.{tuned}: is tuned by the grid"):
            searched(baseline, BaselineSettings("quick", {tuned: 3}))


@pytest.mark.parametrize(
    "grid", [{"weights": ["distanc"]}, {"p": [math.inf]}, {"p": [0]}, {"n_neighbors": [0]}]
)
def test_k_nn_refuses_values_without_a_meaning(grid: dict[str, list[object]]) -> None:
    with pytest.raises(UserError, match="knn: "):
        searched(BASELINES["knn"], BaselineSettings(grid))


def test_a_missing_library_is_no_failed_configuration() -> None:
    baseline, _ = counted([ModuleNotFoundError("No module named 'xgboost'")])
    with pytest.raises(ModuleNotFoundError):
        searched(baseline)


def test_validation_rows_without_targets_are_a_reason() -> None:
    table = make_table("regression")
    split = first_split(table)
    table = table.hide(split.validation, table.target)
    with pytest.raises(Infeasible, match="no validation row has a known target"):
        SearchLearner(BASELINES["knn"], BaselineSettings("quick"), Resources()).fit(table, split, 0)


def test_a_limit_of_time_stops_new_fits_and_is_never_silent() -> None:
    baseline, fitted = counted([3.0, 0.0, 1.0, 5.0])
    fit = searched(baseline, BaselineSettings(minutes=1e-9))
    assert len(fitted) == len(fit.trials) == fit.fits == 1
    assert fit.grid == 4
    assert fit.chosen == {"i": fitted[0][0]}
    assert len(searched(baseline, BaselineSettings(minutes=5)).trials) == 4
    with pytest.raises(UserError, match="minutes: 0"):
        BaselineSettings(minutes=0)


def test_a_limit_of_time_draws_another_order_on_every_fold() -> None:
    baseline, fitted = counted([1.0] * 30)
    table = make_table("regression")
    for seed in range(8):
        SearchLearner(baseline, BaselineSettings(minutes=1e-9), Resources()).fit(
            table, first_split(table), seed
        )
    assert len({first for (first,) in fitted}) > 3


@pytest.mark.parametrize("budget", [1, 7, 39, 40, 41])
def test_a_budget_is_of_different_models_the_same_on_every_fold(budget: int) -> None:
    table = make_table("regression", 200)
    drawn = []
    for seed in (0, 1):
        settings = BaselineSettings("paper", budget=budget)
        fit = SearchLearner(BASELINES["knn"], settings, Resources()).fit(
            table, first_split(table), seed
        )
        drawn.append([dict(trial.parameters) for trial in fit.trials])
        assert fit.grid == 480
    models = {tuple(one[name] for name in ("n_neighbors", "weights", "p")) for one in drawn[0]}
    assert drawn[0] == drawn[1]
    assert len(models) == min(budget, 40)
    assert len(drawn[0]) == (budget if budget < 40 else 480)
    with pytest.raises(UserError, match="budget: 0"):
        BaselineSettings(budget=0)


@pytest.mark.parametrize(
    ("name", "task", "different", "fits"),
    [
        ("random_forest", "binary", 16, 4),
        ("random_forest", "regression", 24, 6),
        ("gradient_boosting", "binary", 48, 12),
        ("xgboost", "binary", 48, 12),
        ("lightgbm", "regression", 48, 12),
        ("catboost", "multiclass", 48, 12),
        ("knn", "regression", 40, 2),
        ("mlp", "binary", 3_780, 3_780),
        ("tabnet", "regression", 48, 48),
        ("deep_kernel_learning", "regression", 16, 16),
    ],
)
def test_the_paper_s_grids_hold_so_many_models_and_need_so_many_fits(
    name: str, task: Task, different: int, fits: int
) -> None:
    baseline = BASELINES[name]
    table = make_table(task)
    data = replace(
        training_data(table, first_split(table), codes=baseline.codes), features=np.zeros((60, 8))
    )
    models, families = set(), set()
    for point in points(baseline, "paper", task):
        model = baseline.model({**baseline.fixed, **point}, data)
        models.add(str(sorted(model.items(), key=str)))
        shared = baseline.shared({**baseline.fixed, **point})
        families.add(str(sorted(((k, v) for k, v in model.items() if k not in shared), key=str)))
    assert (len(models), len(families)) == (different, fits)


def test_splits_over_equally_many_features_are_one_forest() -> None:
    table = make_table("regression")
    data = training_data(table, first_split(table), codes=False)
    for features, fits in ((8, 3), (22, 2), (1, 1)):
        wide = replace(data, features=np.zeros((60, features)))
        found = [
            BASELINES["random_forest"].model({"max_features": name}, wide)
            for name in (1.0, "sqrt", "log2")
        ]
        assert len({one["max_features"] for one in found}) == fits


@pytest.mark.parametrize(
    "name", sorted(name for name in BASELINES if not BASELINES[name].supports("multiclass"))
)
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
    ("train_rows", "batch", "virtual"),
    [(33, 32, 16), (34, 32, 16), (20, 32, 16), (33, 32, 4), (41, 64, 4), (45, 32, 4)],
)
def test_tabnet_trains_whatever_its_batches_leave_over(
    train_rows: int, batch: int, virtual: int
) -> None:
    table = make_table("regression")
    changed = {**tabnet.DEFAULT, "batch_size": batch, "virtual_batch_size": virtual}
    settings = BaselineSettings(
        {key: [value] for key, value in changed.items()}, {"max_epochs": 30, "patience": 30}
    )
    learner = SearchLearner(BASELINES["tabnet"], settings, Resources())
    split = Split(0, np.arange(train_rows), np.arange(train_rows, 50), np.arange(50, 60))
    learner.fit(table, split, 0)
    assert learner.predict(split.train).values.std() > 0.1 * table.truth.std()


def test_tabnet_is_stopped_early_also_where_the_validation_rows_lack_a_class() -> None:
    table = make_table("multiclass")
    split = first_split(table)
    lacking = split.validation[table.truth[split.validation] != 2]
    rest = np.setdiff1d(np.arange(table.rows), np.concatenate([lacking, split.test]))
    learner = SearchLearner(
        BASELINES["tabnet"], BaselineSettings("quick", {"max_epochs": 3}), Resources()
    )
    assert np.isfinite(learner.fit(table, Split(0, rest, lacking, split.test), 0).validation_loss)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_single_target_value_is_a_reason(task: str) -> None:
    table = make_table(task)  # type: ignore[arg-type]
    table = table.with_numbers(table.target, np.ones(table.rows))
    with pytest.raises(Infeasible, match="single target value"):
        SearchLearner(BASELINES["mlp"], BaselineSettings("quick"), Resources()).fit(
            table, first_split(table), 0
        )


def test_too_few_rows_for_the_neighbours_is_a_reason() -> None:
    table = make_table("binary", 20)
    split = first_split(table)
    fit = SearchLearner(knn.BASELINE, BaselineSettings("quick"), Resources()).fit(table, split, 0)
    failed = {
        trial.parameters["n_neighbors"] for trial in fit.trials if "more than the" in trial.reason
    }
    assert failed == {k for k in (2, 5, 10, 20, 40) if k > len(split.train)}
    with pytest.raises(Infeasible, match="n_neighbors 40 is more than the"):
        SearchLearner(knn.BASELINE, BaselineSettings({"n_neighbors": [40]}), Resources()).fit(
            table, split, 0
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (BaselineSettings("fast"), "allowed: paper, quick"),
        (BaselineSettings({"neighbors": [1]}), r"knn\.grid\.neighbors"),
        (BaselineSettings({"p": []}), r"knn\.grid\.p: has no values"),
        (BaselineSettings({"p": ["1e0"]}), r"knn\.grid\.p: '1e0' is text, not a number"),
    ],
)
def test_an_unknown_grid_is_refused(settings: BaselineSettings, message: str) -> None:
    with pytest.raises(UserError, match=message):
        next(knn.BASELINE.configurations(settings, "binary", 10))


def test_parameters_of_small_tables_grids_are_allowed_for_large_ones_too() -> None:
    settings = BaselineSettings({"algorithm": ["brute"], "n_neighbors": [1]})
    assert next(knn.BASELINE.configurations(settings, "binary", 1_000_000))


def test_the_order_of_configurations_is_the_grid_s() -> None:
    grid = {"n_neighbors": [1, 2], "p": [1, 2]}
    found = list(knn.BASELINE.configurations(BaselineSettings(grid), "binary", 10))
    assert [tuple(point.values()) for point in found] == list(itertools.product([1, 2], [1, 2]))


def test_missing_targets_are_left_out_of_training() -> None:
    table = make_table("regression")
    split = first_split(table)
    holes: Table = table.hide(np.concatenate([split.train[:3], split.validation[:3]]), table.target)
    learner = SearchLearner(
        BASELINES["gradient_boosting"], BaselineSettings({"n_estimators": [5]}), Resources()
    )
    assert np.isfinite(learner.fit(holes, split, 0).validation_loss)


def test_deep_kernel_learning_learns_and_is_for_regression() -> None:
    table = make_table("regression", 200)
    split = first_split(table)
    baseline = BASELINES["deep_kernel_learning"]
    grid = {"learning_rate": [0.01], "inducing_points": [32]}
    learner = SearchLearner(baseline, BaselineSettings(grid, {"max_epochs": 150}), Resources())
    learner.fit(table.blind(split.test), split, 0)
    truth = table.truth[split.test]
    assert np.mean((learner.predict(split.test).values - truth) ** 2) < 0.5 * truth.var()
    assert baseline.supports("binary") == "deep kernel learning is for regression"
