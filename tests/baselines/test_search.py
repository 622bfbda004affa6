"""The search: which configuration wins, what is fitted together, and what a failure costs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.search import Search
from baselines.training_data import training_data
from npt.data.encoding import one_hot_features, statistics
from npt.errors import Infeasible
from npt.interface import Resources
from tests.baselines.toy import Outcome, Toy, tuned
from tests.conftest import first_split, make_table

FAILURES = [
    (float("nan"), "the validation loss is nan"),
    (float("inf"), "the validation loss is inf"),
    (ValueError("no\nluck"), "ValueError: no luck"),
    (MemoryError(), "MemoryError"),
    (Infeasible("too few rows"), "too few rows"),
]


def test_configurations_are_scored_on_validation_rows() -> None:
    toy = Toy([3.0])
    fit = tuned(toy)
    table = make_table("regression")
    split = first_split(table)
    features = one_hot_features(table, statistics(table, split))
    assert np.array_equal(toy.predicted[0], features[split.validation])
    known = table.truth[split.train]
    target = (table.truth[split.validation] - known.mean()) / known.std()
    assert fit.validation_loss == pytest.approx(np.mean((3.0 - target) ** 2))


@pytest.mark.parametrize(("shared", "fitted"), [(False, [0, 1, 2, 3]), (True, [3])])
def test_one_fit_by_the_seed_serves_what_shares_it(shared: bool, fitted: list[int]) -> None:
    toy = Toy([3.0, 0.0, 0.0, 5.0], shared)
    fit = tuned(toy, seed=5)
    assert toy.fitted == fitted
    assert set(toy.seeds) == {42 + 5}
    assert fit.fits == len(fitted)
    assert fit.trials[-1].fit == len(fitted)
    assert fit.chosen == {"i": 1}  # the first of the best
    assert fit.grid == 4


@pytest.mark.parametrize("one_fit_serves_all", [False, True])
@pytest.mark.parametrize(("outcome", "reason"), FAILURES)
def test_a_failure_costs_no_other_configuration(
    outcome: Outcome, reason: str, one_fit_serves_all: bool
) -> None:
    fit = tuned(Toy([3.0, outcome, 0.0], one_fit_serves_all))
    assert fit.chosen == {"i": 2}
    assert [trial.reason for trial in fit.trials] == ["", reason, ""]
    finite = [math.isfinite(trial.validation_loss) for trial in fit.trials]
    assert finite == [True, False, True]


def test_a_search_fails_if_all_configurations_do() -> None:
    with pytest.raises(Infeasible, match="the validation loss is nan") as raised:
        tuned(Toy([float("nan"), ValueError("no luck")]))
    reasons = [trial.reason for trial in raised.value.trials]
    assert reasons == ["the validation loss is nan", "ValueError: no luck"]


@pytest.mark.parametrize("error", [ImportError, NameError, AttributeError])
def test_a_mistake_in_code_is_raised(error: type[Exception], tmp_path: Path) -> None:
    toy = Toy([3.0, error("no such thing")])
    with pytest.raises(error):
        tuned(toy, checkpoint=tmp_path / "journal")
    toy.outcomes = [3.0, 0.0]  # it is corrected
    fit = tuned(toy, checkpoint=tmp_path / "journal")
    assert (fit.chosen, toy.fitted) == ({"i": 1}, [0, 1, 1])


def test_too_many_train_rows_have_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = len(first_split(make_table("regression")).train)
    monkeypatch.setattr(Toy, "most_rows", rows)
    tuned(Toy([0.0]))
    monkeypatch.setattr(Toy, "most_rows", rows - 1)
    with pytest.raises(Infeasible, match=f"at most {rows - 1}"):
        tuned(Toy([0.0]))


@pytest.mark.parametrize("budget", [7, 40])
def test_a_budget_is_a_number_of_different_models(budget: int) -> None:
    fit = tuned(baselines()["knn"], BaselineSettings(budget=budget))
    models = set()
    for trial in fit.trials:
        models.add(tuple(trial.parameters[name] for name in ("n_neighbors", "weights", "p")))
    assert fit.models == len(models) == min(budget, 40)
    assert len(fit.trials) == (budget if budget < 40 else 480)
    assert fit.grid == 480


def test_a_budget_draws_the_same_of_the_whole_grid_on_every_fold() -> None:
    fitted = []
    for seed in range(2):
        toy = Toy([0.0] * 40)
        tuned(toy, BaselineSettings(budget=5), seed)
        fitted.append(toy.fitted)
    assert fitted[0] == fitted[1] == sorted(fitted[0])
    assert len(fitted[0]) == 5
    assert max(fitted[0]) >= 20


def test_an_interrupted_search_resumes(tmp_path: Path) -> None:
    path = tmp_path / "runs/search.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        tuned(Toy([3.0, 0.0, ValueError("no luck"), KeyboardInterrupt(), 5.0]), checkpoint=path)
    resumed = Toy([3.0, 0.0, ValueError("no luck"), 4.0, 5.0])
    fit = tuned(resumed, checkpoint=path)
    undisturbed = tuned(Toy(resumed.outcomes))
    assert resumed.fitted == [3, 4, 1]  # the best of before is fitted again
    assert (fit.chosen, fit.fits) == (undisturbed.chosen, undisturbed.fits)
    assert fit.validation_loss == undisturbed.validation_loss
    for trial, expected in zip(fit.trials, undisturbed.trials, strict=True):
        assert (trial.parameters, trial.reason) == (expected.parameters, expected.reason)
        assert trial.validation_loss == pytest.approx(expected.validation_loss, nan_ok=True)


def test_a_group_that_is_partly_known_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "search.checkpoint"
    failure = ValueError("no luck")
    with pytest.raises(KeyboardInterrupt):
        tuned(Toy([3.0, failure, KeyboardInterrupt()], one_fit_serves_all=True), checkpoint=path)
    fit = tuned(Toy([3.0, failure, 0.0], one_fit_serves_all=True), checkpoint=path)
    assert fit.chosen == {"i": 2}


def test_what_shared_a_fit_shares_it_again(tmp_path: Path) -> None:
    path = tmp_path / "search.checkpoint"
    tuned(Toy([3.0, 0.0], one_fit_serves_all=True), checkpoint=path)
    again = Toy([3.0, 0.0], one_fit_serves_all=True)
    assert tuned(again, checkpoint=path).fits == 1
    assert again.fitted == [1]


@pytest.mark.parametrize("change", ["seed", "cut", "text"])
def test_a_search_reads_its_own_lines(change: str, tmp_path: Path) -> None:
    path = tmp_path / "search.checkpoint"
    tuned(Toy([0.0, 3.0]), checkpoint=path)
    whole = path.read_text()
    path.write_text({"cut": whole[:-20], "text": "no lines\n"}.get(change, whole))
    again = Toy([0.0, 3.0])
    seed = int(change == "seed")
    fit = tuned(again, seed=seed, checkpoint=path)
    assert fit.chosen == {"i": 0}
    assert again.fitted == ([1, 0] if change == "cut" else [0, 1])
    third = Toy([0.0, 3.0])
    tuned(third, seed=seed, checkpoint=path)
    assert third.fitted == [0]  # the best alone


def test_a_stamp_is_of_all_that_outcomes_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = baselines()["knn"]
    table = make_table("regression")
    split = first_split(table)
    data = training_data(table, split, statistics(table, split), codes=False)

    def stamp(**changes: Any) -> str:
        search = {
            "data": data,
            "settings": BaselineSettings(),
            "seed": 0,
            "resources": Resources(),
            **changes,
        }
        return Search(baseline, **search).stamp

    assert stamp() == stamp()
    stamps = {
        stamp(),
        stamp(data=replace(data, target=-data.target)),
        stamp(settings=BaselineSettings(budget=1)),
        stamp(seed=1),
        stamp(resources=Resources(threads=2)),
        stamp(resources=Resources(device="cuda")),
    }
    monkeypatch.setattr("baselines.search.installed_version", lambda name: "2")
    stamps.add(stamp())
    monkeypatch.setattr(type(baseline), "version", 2)
    stamps.add(stamp())
    assert len(stamps) == 8
