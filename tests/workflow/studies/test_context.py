"""Context: the share of train rows at prediction, and in training."""

from __future__ import annotations

import numpy as np
import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.probe import StoredRowProbe
from baselines.trained import TrainedBaseline
from baselines.tuned import TunedBaseline
from npt.interface import Resources
from npt.nn.probe import NPTProbe
from npt.table import Split, Table, with_train_share
from tests.conftest import first_split, make_table
from tests.workflow.studies.frames import SCORING, context_study
from tests.workflow.studies.models import small_npt
from workflow.config.reading import read
from workflow.planning.plan import Plan
from workflow.studies import kinds
from workflow.studies.context import ContextOptions
from workflow.studies.context.probe import predicted_without, probe
from workflow.studies.dose_response.view import AT_PREDICTION, IN_TRAINING, contexts
from workflow.studies.query import ProbeQuery

KIND = kinds()["context"]


def neighbours(table: Table, split: Split) -> TunedBaseline:
    settings = BaselineSettings(grid={"n_neighbors": [3]})
    learner = TunedBaseline(baselines()["knn"], settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    return learner


def test_smaller_shares_are_nested_and_another_table_has_their_rows() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    half = split.drawn_train_rows(0.5)
    tenth = split.drawn_train_rows(0.1)
    assert len(half) == round(0.5 * len(split.train))
    assert set(tenth) < set(half) < set(split.train)
    assert np.array_equal(split.drawn_train_rows(1.0), split.train)
    assert len(split.drawn_train_rows(1e-6)) == 1
    smaller, its_split = with_train_share(table, split, 0.1)
    assert smaller.rows == len(tenth) + len(split.validation) + len(split.test)
    parts = np.concatenate([its_split.train, its_split.validation, its_split.test])
    assert np.array_equal(np.sort(parts), np.arange(smaller.rows))
    for part, rows in (("train", tenth), ("validation", split.validation), ("test", split.test)):
        assert np.array_equal(smaller.truth[its_split.rows(part)], table.truth[rows])


def test_neighbours_with_a_share_are_those_fitted_to_it() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    trained = neighbours(table, split).trained
    assert isinstance(trained, TrainedBaseline)
    left = split.drawn_train_rows(0.25)
    removed = np.setdiff1d(split.train, left)
    predicted = predicted_without(StoredRowProbe(trained), split.test, removed)
    features = trained.data.features
    truth = table.truth
    for row, prediction in zip(split.test, predicted, strict=True):
        distances = ((features[left] - features[row]) ** 2).sum(1)
        nearest = left[np.argsort(distances, kind="stable")[:3]]
        assert prediction == pytest.approx(truth[nearest].mean())


def test_all_rows_are_the_plain_prediction_of_npt() -> None:
    model, table, split = small_npt("regression")
    options = ContextOptions(shares=[1.0, 0.1])
    query = ProbeQuery(
        probe=NPTProbe(model), table=table, split=split, rows=split.test, seed=0, options=options
    )
    facts, arrays = probe(query)
    plain = model.predict(split.test).values
    assert arrays["predictions"][0] == pytest.approx(plain, rel=1e-4, abs=1e-4)
    assert not np.allclose(arrays["predictions"][1], plain, rtol=1e-4)
    assert facts["contexts"]["share"] == [1.0, 0.1]
    assert facts["contexts"]["rows"] == [len(split.train), round(0.1 * len(split.train))]
    assert facts["contexts"]["rmse"][0] == pytest.approx(query.score(plain)["rmse"], rel=1e-4)


def plan(*names: str) -> Plan:
    return Plan.of(
        read(
            {
                "folds": 0,
                "datasets": ["yacht"],
                "methods": list(names),
                "studies": {
                    "main": {},
                    "context": {"kind": "context", "options": {"shares": [1, 0.5, 0.1]}},
                },
            }
        )
    )


def test_a_share_is_a_run_of_its_own_and_is_not_probed() -> None:
    made = plan("knn")
    shares = {run.variant: run.train_share for run in made.runs.values()}
    assert shares == {"base": 1.0, "train_50_percent": 0.5, "train_10_percent": 0.1}
    fingerprints = {run.fingerprint for run in made.runs.values()}
    assert len(fingerprints) == 3
    probed = made.probed_runs_of(made.studies["context"])
    assert [run.variant for run in probed] == ["base"]


def test_methods_without_stored_rows_are_trained_alone() -> None:
    made = plan("knn", "linear")
    study = made.studies["context"]
    assert {run.method for run in made.probed_runs_of(study)} == {"knn"}
    trained = {run.train_share for run in made.runs_of(study) if run.method == "linear"}
    assert trained == {1.0, 0.5, 0.1}
    collected = context_study()
    is_base = (collected["method"] == "knn") & (collected["variant"] == "base")
    collected.loc[is_base, "contexts"] = np.nan
    collected.loc[is_base, "test_rmse"] = 1.25
    of_knn = contexts(collected).query("method == 'knn'")
    assert set(of_knn["kind"]) == {IN_TRAINING}
    assert of_knn["error"].iloc[0] == 1.25
    assert KIND.figure("context", collected, SCORING).axes
    trained_alone = collected[collected["method"] == "knn"].drop(columns="contexts")
    assert set(contexts(trained_alone)["kind"]) == {IN_TRAINING}
    assert KIND.table("context", trained_alone, SCORING).sections


def test_errors_are_of_both_ways_and_a_failed_share_has_none() -> None:
    means = contexts(context_study())
    of_npt = means[means["method"] == "npt"]
    at_prediction = of_npt[of_npt["kind"] == AT_PREDICTION]
    assert at_prediction["error"].tolist() == [1.0, 1.5, 2.0]
    in_training = of_npt[of_npt["kind"] == IN_TRAINING]
    assert in_training["error"].tolist() == [1.0, 3.0, 6.0]
    of_knn = means[(means["method"] == "knn") & (means["kind"] == IN_TRAINING)]
    assert of_knn["share"].tolist() == [1.0, 0.5]
    (section,) = KIND.table("context", context_study(), SCORING).sections
    assert any("n_neighbors" in note for note in section.notes)
