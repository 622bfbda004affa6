"""Fitting of one fold."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from npt.evaluation import Evaluation
from npt.interface import Fit, Resources, Trial
from tests.rows import plan
from workflow.results import fitting
from workflow.results.fitting import write_trials
from workflow.results.job import Job
from workflow.results.row import recorded_settings

pytestmark = pytest.mark.usefixtures("folder")


def test_seed_of_the_run_and_fold_seed_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def evaluate(learner: Any, table: Any, split: Any, seed: int) -> Evaluation:
        seeds.append(seed)
        return Evaluation("failed", reason="not fitted")

    monkeypatch.setattr(fitting, "evaluate", evaluate)
    for method in ("knn", "npt"):
        planned = plan(datasets=["yacht"], methods=[method], seeds=[1], studies={"main": {}})
        job = Job.from_plan(planned, [*planned.runs][-1])
        fold = job.run.folds[-1]
        fitted = fitting.fit_fold(job, fold, Resources(1, "cpu"))
        assert seeds.pop() == 10_000 + fold
        assert fitted.row.key == (f"yacht/{method}/base", 1, fold)
        assert fitted.row.reason == "not fitted"


def test_row_has_the_facts_of_fit_and_search(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Fit({"k": 5}, 0.25, fits=3, parameters=70, grid=90, models=8)
    trials = [Trial({"k": k}, 0.25, reason, 1, 0.1) for k, reason in ((5, ""), (6, ""), (7, "no"))]
    evaluation = Evaluation("ok", fit=fit, trials=trials)
    monkeypatch.setattr(fitting, "evaluate", lambda *arguments: evaluation)
    planned = plan(datasets=["yacht"], methods=["knn"], studies={"main": {}})
    (stem,) = planned.runs
    row = fitting.fit_fold(Job.from_plan(planned, stem), 0, Resources(1, "cpu")).row
    assert (row.chosen, row.validation_loss, row.fits) == ({"k": 5}, 0.25, 3)
    columns = ("parameters", "grid", "models", "configurations", "failed_configurations")
    values = row.model_dump()
    assert [values[name] for name in columns] == [70, 90, 8, 3, 1]


def test_rows_of_images_name_their_encoder() -> None:
    assert recorded_settings({"encoder": "siren", "width": 8}) == {"encoder": "siren"}
    assert recorded_settings({"encoder": "linear"}) == {}


def written(folder: Path, trials: dict[int, list[Trial]]) -> pd.DataFrame:
    write_trials(folder / "trials.parquet", trials)
    return pd.read_parquet(folder / "trials.parquet")


def test_trials_keep_hyper_parameters_and_reasons(tmp_path: Path) -> None:
    wide = {"layers": [50, 50], "features": 1.0, "rate": 0.1, "cap": None}
    deep = {"layers": [25], "features": "sqrt", "rate": 0.2, "cap": "low"}
    succeeded = Trial(wide, 0.5, "", 1, 2.5)
    failed = Trial(deep, float("nan"), "ValueError: singular", 2, 0.5)
    frame = written(tmp_path, {0: [succeeded, failed], 3: [succeeded]})
    assert list(frame["fold"]) == [0, 0, 3]
    assert [json.loads(text) for text in frame["layers"]] == [[50, 50], [25], [50, 50]]
    assert [json.loads(text) for text in frame["features"]] == [1.0, "sqrt", 1.0]
    assert frame["cap"].dropna().to_dict() == {1: "low"}
    assert list(frame["rate"]) == [0.1, 0.2, 0.1]
    assert frame["validation_loss"].isna().tolist() == [False, True, False]
    assert list(frame["reason"]) == ["", "ValueError: singular", ""]


def test_search_without_trials_gives_an_empty_table(tmp_path: Path) -> None:
    assert written(tmp_path, {0: []}).empty
