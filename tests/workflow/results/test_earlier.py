"""Folds that another run of the same configuration has computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from baselines import methods
from npt.data import store
from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.interface import Resources
from tests.conftest import make_table
from tests.rows import FACTS, plan
from workflow.planning import paths
from workflow.results.job import Job
from workflow.results.predictions import read_predictions
from workflow.results.row_file import read_rows
from workflow.results.trials import read_trials
from workflow.steps import run

Fit = Callable[..., list[int]]
BEFORE = "yacht/knn/base/seed_0/folds_0-1"


def job_of(folds: str, k: int) -> Job:
    planned = plan(
        datasets=["yacht"],
        methods=["knn"],
        folds=folds,
        settings={"knn": {"grid": {"n_neighbors": [2, k]}}},
        studies={"main": {}},
    )
    (stem,) = planned.runs
    return Job.of(planned, stem)


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fit:
    """Fits k-NN on two folds; then on others, and returns those that were trained."""
    monkeypatch.chdir(tmp_path)
    table = make_table("regression")
    folds = dict(enumerate(splits(table, SplitRule(folds=5, used=3))))
    facts = {**FACTS, "name": "yacht"}
    store.save(Path(paths.prepared("yacht")), store.Prepared(table, folds, facts))
    run.fit(job_of("0-1", 5), Resources(1, "cpu"))
    fit_or_search = run.fit_or_search

    def fit(folds: str = "0-2", k: int = 5) -> list[int]:
        trained: list[int] = []

        def noted(job: Job, fold: int, resources: Resources) -> run.FittedFold | run.SearchedFold:
            trained.append(fold)
            return fit_or_search(job, fold, resources)

        monkeypatch.setattr(run, "fit_or_search", noted)
        run.fit(job_of(folds, k), Resources(1, "cpu"))
        return trained

    return fit


def test_a_further_fold_is_fitted_alone(fitted: Fit) -> None:
    assert fitted() == [2]
    after = BEFORE.replace("0-1", "0-2")
    rows = read_rows(Path(paths.run_rows(after)))
    assert rows[:2] == read_rows(Path(paths.run_rows(BEFORE)))
    assert [row.fold for row in rows] == [0, 1, 2]
    predictions = read_predictions(Path(paths.run_predictions(after)))
    earlier = read_predictions(Path(paths.run_predictions(BEFORE)))
    for name, values in earlier.items():
        assert (predictions[name] == values).all()
    assert len(predictions) == 12
    trials = read_trials(Path(paths.run_trials(after)))
    numbers = {fold: len(of_fold) for fold, of_fold in trials.items()}
    assert numbers == {0: 2, 1: 2, 2: 2}


def test_fewer_folds_are_taken_as_well(fitted: Fit) -> None:
    assert fitted("1") == []
    after = BEFORE.replace("0-1", "1")
    rows = read_rows(Path(paths.run_rows(after)))
    assert [row.fold for row in rows] == [1]


def test_other_settings_are_fitted(fitted: Fit) -> None:
    assert fitted(k=7) == [0, 1, 2]


def test_another_version_is_fitted(fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(methods(), "knn", replace(methods()["knn"], version=2))
    assert fitted() == [0, 1, 2]


def test_another_machine_and_day_are_no_reason(
    fitted: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.results.job.machine", lambda: "another")
    assert fitted() == [2]


@pytest.mark.parametrize("path", [paths.run_rows, paths.run_predictions, paths.run_trials])
def test_damaged_files_are_not_taken(fitted: Fit, path: Callable[[str], str]) -> None:
    file = Path(path(BEFORE))
    file.write_bytes(file.read_bytes()[:-20])
    assert fitted() == [0, 1, 2]
