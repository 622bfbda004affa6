"""Context: the share of train rows at prediction, and in training."""

import numpy as np
import pandas as pd
import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from baselines.probe import StoredRowProbe
from baselines.trained import TrainedBaseline
from baselines.tuned import TunedBaseline
from npt.interface import Resources
from npt.nn.probe import NPTProbe
from npt.train_rows import TrainRows
from tests.conftest import first_split, make_table
from tests.rows import plan
from tests.workflow.studies.frames import SCORING, context_study
from tests.workflow.studies.models import small_npt
from workflow.studies import kinds
from workflow.studies.context import ContextOptions
from workflow.studies.context.probe import predicted_without, probe
from workflow.studies.dose_response.view import AT_PREDICTION, IN_TRAINING, contexts
from workflow.studies.query import ProbeQuery

KIND = kinds()["context"]


def test_smaller_shares_are_nested_and_another_table_has_their_rows() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    half = split.drawn_train_rows(0.5)
    tenth = split.drawn_train_rows(0.1)
    assert len(half) == round(0.5 * len(split.train))
    assert set(tenth) < set(half) < set(split.train)
    assert np.array_equal(split.drawn_train_rows(1.0), split.train)
    assert len(split.drawn_train_rows(1e-6)) == 1
    smaller, its_split = TrainRows(share=0.1).of_fold(table, split)
    parts = np.concatenate([its_split.train, its_split.validation, its_split.test])
    assert np.array_equal(np.sort(parts), np.arange(smaller.rows))
    for part, rows in (("train", tenth), ("validation", split.validation), ("test", split.test)):
        assert np.array_equal(smaller.truth[its_split.rows(part)], table.truth[rows])


def test_neighbours_with_a_share_are_those_fitted_to_it() -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    left = split.drawn_train_rows(0.25)
    removed = np.setdiff1d(split.train, left)
    learner = TunedBaseline(
        baselines()["knn"], BaselineSettings(grid={"n_neighbors": [3]}), Resources()
    )
    learner.fit(table.blind(split.test), split, 0)
    assert isinstance(learner.trained, TrainedBaseline)
    features = learner.trained.data.features
    predicted = predicted_without(StoredRowProbe(learner.trained), split.test, removed)
    for row, prediction in zip(split.test, predicted, strict=True):
        distances = ((features[left] - features[row]) ** 2).sum(1)
        nearest = left[np.argsort(distances, kind="stable")[:3]]
        assert prediction == pytest.approx(table.truth[nearest].mean())


def test_all_rows_are_the_plain_prediction_of_npt() -> None:
    model, table, split = small_npt("regression")
    options = ContextOptions(shares=[1.0, 0.1])
    query = ProbeQuery(NPTProbe(model), table, split, split.test, seed=0, options=options)
    facts, arrays = probe(query)
    plain = model.predict(split.test).values
    assert arrays["predictions"][0] == pytest.approx(plain, rel=1e-4, abs=1e-4)
    assert not np.allclose(arrays["predictions"][1], plain, rtol=1e-4)
    assert facts["contexts"]["share"] == [1.0, 0.1]
    assert facts["contexts"]["rows"] == [len(split.train), round(0.1 * len(split.train))]
    assert facts["contexts"]["rmse"][0] == pytest.approx(query.score(plain)["rmse"], rel=1e-4)


def test_a_share_is_a_run_and_only_models_of_rows_are_probed() -> None:
    block = {"kind": "context", "options": {"shares": [1, 0.5, 0.1]}}
    planned = plan(datasets=["yacht"], methods=["knn", "linear"], studies={"context": block})
    study = planned.studies["context"]
    shares = {"base": 1.0, "train_50_percent": 0.5, "train_10_percent": 0.1}
    for method in ("knn", "linear"):
        runs = [run for run in planned.runs_of(study) if run.method == method]
        assert {run.variant: run.train.share for run in runs} == shares
        assert len({run.fingerprint for run in runs}) == 3
    probed = [(run.method, run.variant) for run in planned.runs.values() if planned.probes_of(run)]
    assert probed == [("knn", "base")]


def test_errors_are_of_both_ways_and_a_failed_share_has_none() -> None:
    means = contexts(context_study()).set_index(["method", "kind"])
    assert means.loc[("npt", AT_PREDICTION), "error"].tolist() == [1.0, 1.5, 2.0]
    assert means.loc[("npt", IN_TRAINING), "error"].tolist() == [1.0, 3.0, 6.0]
    assert means.loc[("knn", IN_TRAINING), "share"].tolist() == [1.0, 0.5]
    (section,) = KIND.view.table("context", context_study(), SCORING).sections
    assert any("n_neighbors" in note for note in section.notes)


@pytest.mark.parametrize("has_npt", [True, False])
def test_methods_that_are_not_probed_are_trained_alone(has_npt: bool) -> None:
    study = context_study()
    is_base = (study["method"] == "knn") & (study["variant"] == "base")
    study.loc[is_base, "contexts"] = np.nan
    study.loc[is_base, "test_rmse"] = 1.25
    if not has_npt:
        study = study[study["method"] == "knn"].drop(columns=["contexts", "options"])
        study["variant"] = study["variant"].replace("train_50_percent", "train_33.3_percent")
    means = contexts(study).query("method == 'knn'")
    assert means["share"].tolist() == [1.0, 0.5 if has_npt else 0.333]
    assert set(means["kind"]) == {IN_TRAINING}
    assert means["error"].iloc[0] == 1.25
    assert KIND.view.figure("context", study, SCORING).axes
    assert KIND.view.table("context", study, SCORING).sections


def test_many_datasets_are_averaged() -> None:
    names = ["yacht", "concrete", "boston_housing", "protein", "airfoil", "servo"]
    study = pd.concat([context_study().assign(dataset=name) for name in names], ignore_index=True)
    other = (study["dataset"] == "servo") & (study["variant"] == "train_10_percent")
    study.loc[other, "test_rmse"] *= 2
    over, _ = KIND.view.table("context", study, SCORING).sections
    cells = {title: [cell.text for cell in column] for title, column in over.columns.items()}
    lines = zip(*(cells[name] for name in ("Method", "Share", "50 %", "10 %")), strict=True)
    assert list(lines) == [
        ("NPT", AT_PREDICTION, "× 1.5", "× 2.0"),
        ("NPT", IN_TRAINING, "× 3.0", "× 6.7"),  # 6 * 2 ** (1 / 6)
        ("k-NN", AT_PREDICTION, "× 2.0", "× 4.0"),
        ("k-NN", IN_TRAINING, "× 2.0", "–"),
    ]
    assert set(cells["Datasets"]) == {"6 regressions"}
    (panel,) = KIND.view.figure("context", study, SCORING).axes
    assert (panel.get_title(), panel.get_ylabel()) == ("6 regressions", "× RMSE")
    assert panel.lines[0].get_ydata() == pytest.approx([2.0, 1.5, 1.0])
    classes = context_study().assign(dataset="breast_cancer", task="binary")
    classes = classes.assign(test_nll=0.5, test_accuracy=0.8, constant_accuracy=0.5)
    axes = KIND.view.figure("context", pd.concat([study, classes]), SCORING).axes
    assert "Breast Cancer" in [axis.get_title() for axis in axes]  # no panel leaves it out
    fewer = study[study["dataset"] != "yacht"]
    assert len(KIND.view.table("context", fewer, SCORING).sections) == 1
