"""Probing: what the model of a fold is refitted with, and the row of a probe."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from npt.errors import UserError
from npt.interface import Prediction, Resources
from npt.method import ROW_ALONE
from npt.perturbation import Perturbation
from npt.probing import Probe
from npt.table import Split, Table
from tests.rows import finish, plan, predicted, prepared
from workflow.results.job import Job
from workflow.studies.probing import Answer, fitted_rows, probe_fold
from workflow.studies.query import ProbeQuery, target_scale

pytestmark = pytest.mark.usefixtures("folder")


@dataclass(frozen=True)
class Refitted:
    """Predicts zero, and keeps what it was refitted with."""

    chosen: Mapping[str, Any]
    table: Table
    split: Split
    seed: int
    trained_on: str
    device: str = "cpu"

    def predict(self, rows: np.ndarray) -> Prediction:
        return Prediction(np.zeros(len(rows)))


@dataclass(frozen=True)
class Saved:
    """Predicts what the finished run of a method has saved."""

    method: str
    device: str = "cpu"

    def predict(self, rows: np.ndarray) -> Prediction:
        return predicted(prepared("yacht"), rows, self.method)


STUDIES = {
    "corruption": {"kind": "corruption", "methods": ["knn"], "folds": [0, 2]},
    "dose_response": {"kind": "dose_response", "methods": ["knn"], "folds": 2},
    "main": {},
}


def answers(
    models: list[Refitted], fold: int, studies: Mapping[str, Any] = STUDIES, **changes: Any
) -> list[Answer]:
    """The probe of a fold of a finished run, whose refitted models join the list."""

    def refit(settings: Any, chosen: Any, resources: Resources, *fold: Any) -> Refitted:
        models.append(Refitted(chosen, *fold, resources.device))
        return models[-1]

    planned = plan(datasets=["yacht"], methods=["knn"], seeds=[1], studies=studies)
    (stem,) = planned.runs
    finish(planned, stem, **{"chosen": {"k": 5}, **changes})
    job = Job.from_plan(planned, stem)
    with_refit = replace(job, method=replace(job.method, refit=refit, probe=ROW_ALONE))
    row = fitted_rows(job)[fold]
    return list(probe_fold(with_refit, row, planned.probes_of(job.run), Resources(1, "cpu")))


def test_probe_refits_blind_with_the_chosen_settings() -> None:
    models: list[Refitted] = []
    ((_, row, arrays), (other, *_)) = answers(models, 2, device="cuda:1, NVIDIA H100")
    (model,) = models  # for both studies
    assert other.name == "dose_response"
    assert np.isnan(model.table.truth).tolist() == [False, False, False, True]
    assert (model.chosen, model.seed, model.split.fold) == ({"k": 5}, 10_002, 2)
    assert model.trained_on == "cuda:1"
    assert (row.key, row.status, row.device) == (("yacht/knn/base", 1, 2), "ok", "cpu")
    assert row.facts["clean_rmse"] == 1  # the target of the test row
    assert arrays["fold_2_rows"].tolist() == [3]


def test_each_study_probes_its_folds_alone() -> None:
    models: list[Refitted] = []
    ((study, *_),) = answers(models, 0)
    assert (study.name, len(models)) == ("corruption", 1)
    assert not answers(models, 1)
    assert len(models) == 1  # nothing was loaded in vain


def test_studies_share_their_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def predict(self: Probe, rows: np.ndarray, *question: Any) -> np.ndarray:
        asked.append((len(rows), *question))
        return self.predict(rows)

    monkeypatch.setattr(Probe, "predict_perturbed", predict)
    one = {"kind": "corruption", "methods": ["knn"]}
    first, second = answers([], 0, {"one": one, "same": one})
    assert first[2].keys() == second[2].keys()
    for name, predictions in first[2].items():
        assert np.array_equal(predictions, second[2][name])
    assert len(asked) == len(set(asked)) == 2  # all cells, and the control


def test_another_model_gives_answers_of_its_own() -> None:
    table, split = prepared("yacht").table, prepared("yacht").splits[0]
    shuffled = Perturbation("shuffle", 1.0)
    query = ProbeQuery(Probe(Saved("knn")), table, split, split.test, 0, None)
    first = query.perturbed(shuffled)
    other = query.with_probe(Probe(Saved("mlp")))
    assert not np.array_equal(other.perturbed(shuffled), first)
    assert query.perturbed(shuffled) is first


def test_rows_of_other_settings_are_refused() -> None:
    with pytest.raises(UserError, match=r"folds_.*jsonl: fingerprint: other, planned"):
        answers([], 2, fingerprint="other")


def test_run_without_a_model_gives_a_failed_row() -> None:
    models: list[Refitted] = []
    for _, row, arrays in answers(models, 0, status="failed", reason="out of memory"):
        assert (row.status, row.reason) == ("failed", "out of memory")
        assert arrays == {}
    assert models == []


@pytest.mark.parametrize("method", ["npt", "knn"])
def test_weights_that_predict_other_values_are_refused(method: str) -> None:
    """The saved predictions are NPT's, which are not those of k-NN."""
    study = {"kind": "corruption", "methods": ["npt"]}
    planned = plan(datasets=["yacht"], folds=[0], methods=["npt"], studies={"corruption": study})
    (stem,) = planned.runs
    finish(planned, stem)
    job = Job.from_plan(planned, stem)
    loaded = replace(job.method, load=lambda *arguments: Saved(method), probe=ROW_ALONE)
    with_load = replace(job, method=loaded)
    fitted = fitted_rows(job)[0]
    answers = probe_fold(with_load, fitted, planned.probes_of(job.run), Resources(1, "cpu"))
    if method == "npt":
        ((_, row, _),) = answers
        assert row.status == "ok"
        return
    with pytest.raises(UserError, match=r"folds_0\.pt: predicts other values"):
        list(answers)


def test_the_scale_of_a_constant_target_is_one() -> None:
    table = prepared("yacht").table
    constant = table.with_numbers(table.target, np.full(table.rows, 0.1))
    many = np.zeros(90, int)  # whose rounded mean is not 0.1
    assert target_scale(constant, Split(0, many, many, many)) == 1
    rows = np.arange(table.rows)
    assert target_scale(table, Split(0, rows, rows, rows)) == table.truth.std()
