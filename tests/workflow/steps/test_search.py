"""A search in one job: the best configuration is kept, and an interrupted search resumes."""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from baselines import methods
from npt.interface import Prediction, Resources
from npt.table import HELD_OUT, Part
from tests.rows import plan, predicted
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results import fitting, job
from workflow.results.fitting import FittedFold
from workflow.results.job import Job
from workflow.results.predictions import fold_arrays, read_predictions
from workflow.results.row import Row, read_rows
from workflow.steps import run

STEM = "yacht/npt_compact/tuned/seed_0/folds_0"
LOSSES = {"base": 0.3, "trial_01": 0.2, "trial_02": 0.4}


class Fits:
    """Replaces `fit_fold`: configurations have these losses or errors, and their name as weights.

    A negative loss is a failure.
    """

    def __init__(self, outcomes: Mapping[str, float | BaseException]) -> None:
        self.outcomes = outcomes
        self.fitted: list[str] = []

    def __call__(self, trial: Job, fold: int, resources: Resources) -> FittedFold:
        name = trial.run.variant
        outcome = self.outcomes[name]
        if isinstance(outcome, BaseException):
            raise outcome
        self.fitted.append(name)
        identity = trial.identity(fold)
        if outcome < 0:
            failure = Row(**identity, status="failed", reason="diverged")
            return FittedFold(failure, arrays={}, trials=(), save=None)
        facts = {"validation_loss": outcome, "fits": 1, "fit_seconds": 2.0}
        fitted = Row(**identity, status="ok", **facts)
        split = trial.prepared.splits[fold]
        values: dict[Part, Prediction] = {
            part: predicted(trial.prepared, split.rows(part), name) for part in HELD_OUT
        }
        arrays = fold_arrays(fold, split, values)
        return FittedFold(fitted, arrays, trials=(), save=lambda path: path.write_text(name))


@pytest.fixture
def planned(folder: Path) -> Plan:
    changes = {"methods": ["npt_compact"], "budget": 3, "studies": {"main": {"tuned": True}}}
    return plan(datasets=["yacht"], folds=0, **changes)


def fit(planned: Plan, fits: Fits, monkeypatch: pytest.MonkeyPatch) -> Row:
    monkeypatch.setattr(fitting, "fit_fold", fits)
    run.fit(Job.from_plan(planned, STEM), Resources())
    (fitted,) = read_rows(paths.run_rows(STEM))
    return fitted


def interrupt(planned: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(planned, Fits({**LOSSES, "trial_02": KeyboardInterrupt()}), monkeypatch)


def test_the_lowest_loss_is_kept(planned: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = fit(planned, Fits(LOSSES), monkeypatch)
    assert fitted.variant == "tuned"
    assert fitted.fingerprint == planned.runs[STEM].fingerprint
    assert fitted.chosen == {
        "configuration": "trial_01",
        **planned.runs[STEM].changes_of("trial_01"),
    }
    assert (fitted.configurations, fitted.fits, fitted.fit_seconds) == (3, 3, 6.0)
    assert paths.run_weights(STEM).read_text() == "trial_01"
    assert "fold_0_test" in read_predictions(paths.run_predictions(STEM))
    trials = pd.read_parquet(paths.run_trials(STEM))
    assert dict(zip(trials["configuration"], trials["validation_loss"], strict=True)) == LOSSES


def test_an_interrupted_search_resumes(planned: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(planned, monkeypatch)
    second = Fits(LOSSES)
    monkeypatch.setattr(job, "machine", lambda: "another node")
    resumed = fit(planned, second, monkeypatch)
    assert second.fitted == ["trial_02"]
    assert (resumed.chosen or {})["configuration"] == "trial_01"
    assert not list(Path(paths.RESULTS, "runs").rglob("*.trials"))


def test_another_version_fits_all_again(planned: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(planned, monkeypatch)
    newer = dataclasses.replace(methods()["npt_compact"], version=2)
    monkeypatch.setitem(methods(), "npt_compact", newer)
    second = Fits(LOSSES)
    fit(planned, second, monkeypatch)
    assert second.fitted == list(LOSSES)


@pytest.mark.parametrize("loss", [-1.0, math.nan])
def test_a_failure_loses(loss: float, planned: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = fit(planned, Fits({**LOSSES, "trial_01": loss}), monkeypatch)
    assert (fitted.chosen or {})["configuration"] == "base"
    assert fitted.failed_configurations == (loss < 0)
