"""Every method keeps the contract on every task: determinism, blindness, refitting."""

from __future__ import annotations

import random
import warnings
from functools import cache
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest

from baselines import baselines, methods
from npt.errors import UserError
from npt.evaluation import Evaluation, evaluate
from npt.interface import Resources
from npt.method import Method
from npt.metrics import scores
from npt.perturbation import Perturbation
from npt.table import TASKS, Table, Task
from tests.conftest import first_split, make_table
from workflow.config.reading import read

ROWS = 120
CASES = []
for _method in methods().values():
    for _task in TASKS:
        if not _method.refusal(_task, realisations=False):
            CASES.append(pytest.param(_method, _task, id=f"{_method.name}-{_task}"))
FEWER_CASES = [case for case in CASES if case.values[1] != "binary"]
REFITS = [case for case in FEWER_CASES if case.values[0].refit is not None]
SEEDED = ("npt", "mlp", "tabnet", "random_forest")


def evaluated(method: Method, table: Table, seed: int = 1, **changes: Any) -> Evaluation:
    settings = method.settings(**{**method.test_settings, **changes})
    learner = method.build(settings, Resources())
    split = first_split(make_table(table.task, ROWS))
    evaluation = evaluate(learner, table, split, seed)
    assert evaluation.status == "ok", evaluation.reason
    return evaluation


@cache
def base_evaluation(name: str, task: Task) -> Evaluation:
    """The evaluation of a method with its test settings, which several tests compare with."""
    return evaluated(methods()[name], make_table(task, ROWS))


def with_other_targets(table: Table, rows: np.ndarray) -> Table:
    truth = table.truth
    truth[rows] += 100 if table.task == "regression" else 1
    if table.task != "regression":
        truth %= table.columns[table.target].size
    return table.with_numbers(table.target, truth)


def test_titles_differ() -> None:
    titles = [method.title for method in methods().values()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("name", baselines())
def test_grids_have_parameters_of_some_task(name: str) -> None:
    """Those that a task lacks are left out of its grid, and a misspelt one is of no task."""
    baseline = baselines()[name]
    if baseline.extra:
        pytest.importorskip(baseline.libraries[0])
    known = set().union(*map(baseline.known_parameters, TASKS))
    for task in TASKS:
        for grid in (baseline.quick_grid(task), *baseline.paper_grids(task, "small")):
            assert set(grid) <= known


@pytest.mark.parametrize(("method", "task"), CASES)
def test_test_targets_change_scores_but_no_prediction(method: Method, task: Task) -> None:
    table = make_table(task, ROWS)
    split = first_split(table)
    other = with_other_targets(table, split.test)
    first = base_evaluation(method.name, task).predictions
    second = evaluated(method, other).predictions
    for part in ("validation", "test"):
        assert np.array_equal(first[part].values, second[part].values)
    if method.name != "constant":  # balanced classes may be exchanged
        assert scores(first, table, split) != scores(second, other, split)


@pytest.mark.parametrize(("method", "task"), FEWER_CASES)
def test_test_features_change_no_inductive_validation(method: Method, task: Task) -> None:
    table = make_table(task, ROWS)
    numbers = table.numbers(0)
    numbers[first_split(table).test[0]] += 50
    changed = table.with_numbers(0, numbers)
    first = evaluated(method, table, transductive=False).predictions
    second = evaluated(method, changed, transductive=False).predictions
    assert np.array_equal(first["validation"].values, second["validation"].values)
    alone = method.name != "npt"  # whose test rows attend to each other
    assert alone == np.array_equal(first["test"].values[1:], second["test"].values[1:])


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_matters(name: str) -> None:
    table = make_table("regression", ROWS)
    first = base_evaluation(name, "regression").predictions["test"]
    second = evaluated(methods()[name], table, seed=2).predictions["test"]
    assert not np.array_equal(first.values, second.values)


@pytest.mark.parametrize(("method", "task"), REFITS)
def test_refit_repeats_the_winner(method: Method, task: Task) -> None:
    table = make_table(task, ROWS)
    split = first_split(table)
    blind = table.blind(split.test)
    settings = method.settings(**method.test_settings)
    learner = method.build(settings, Resources())
    fit = learner.fit(blind, split, 1)
    predicted = learner.predict(split.test).values
    assert method.refit is not None
    model = method.refit(settings, fit.chosen, Resources(), blind, split, 1)
    assert np.array_equal(model.predict(split.test).values, predicted)
    probe = resolve_name(method.probe)(model)
    control = probe.predict_perturbed(split.test, Perturbation("shuffle", 0.0), 0)
    # Rounding may depend on the queries that share a matrix product.
    assert control == pytest.approx(predicted, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("method", methods().values(), ids=list(methods()))
def test_a_declaration_is_complete(method: Method) -> None:
    assert method.libraries
    assert method.test_settings
    assert (method.load is None) != (method.refit is None)
    assert method.version >= 1


@pytest.mark.parametrize(
    "name", [name for name, method in methods().items() if not method.realisations]
)
def test_a_training_leaves_random_states_and_output_alone(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import torch

    method = methods()[name]
    task = "multiclass" if method.refusal("regression", realisations=False) else "regression"
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    expected = (random.random(), np.random.random(), torch.rand(1).item())
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluated(method, make_table(task, ROWS))
    assert (random.random(), np.random.random(), torch.rand(1).item()) == expected
    assert capfd.readouterr().out == ""


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npt.method.installed_version", lambda name: None)
    methods()["knn"].require_libraries()
    with pytest.raises(UserError, match=r"tabm: needs the package tabm.*'\.\[modern\]'"):
        methods()["tabm"].build(methods()["tabm"].settings(), Resources())
    plain = {"folds": 0, "datasets": ["yacht"], "methods": ["xrfm"], "studies": {"main": {}}}
    with pytest.raises(UserError, match=r"studies\.main\.methods: xrfm: needs the package"):
        read(plain)
