"""Tables and figures of the probe kinds, for studies whose results are known."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report.toy import texts
from tests.workflow.studies.frames import (
    NO_MODEL,
    SCORING,
    STUDIES,
    attention_study,
    corruption_study,
    deletion_study,
    dose_study,
    lookup_study,
)
from workflow.config.models import StudyConfig
from workflow.presentation.sections import Table
from workflow.report.study import reported_studies
from workflow.studies import kinds
from workflow.studies.attention.view import attention_heads
from workflow.studies.deletion.view import PAPER

SOURCES_OF_NPT = 3
MEASURES = {
    "attention": "nearness",
    "context": "error",
    "benefit": "depends",
    "corruption": "change",
    "deletion": "kept",
    "dose_response": "share",
    "lookup": "rmse",
}
EIGHT = [5.0, 4.0, 6.0, 3.0, 2.0, 7.0, 1.0, 8.0]


def table(name: str, study: pd.DataFrame) -> Table:
    view = kinds()[name].view
    return view.table(next(iter(view.tables)), study, SCORING)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_without_results_is_shown(name: str) -> None:
    kind = kinds()[name]
    study = STUDIES[name].assign(status="failed", reason=NO_MODEL)
    (section, *_) = table(name, study).sections
    assert any(NO_MODEL in note for note in section.notes)
    for figure in kind.view.figures:
        kind.view.figure(figure, study, SCORING)
    (reported,) = reported_studies({name: study}, {name: StudyConfig(kind=name)}, SCORING)
    assert reported.answer == ""


@pytest.mark.parametrize("name", STUDIES)
def test_equal_seeds_change_nothing_and_a_failed_fold_all(name: str) -> None:
    study = STUDIES[name]
    once = table(name, study).tidy.drop(columns="reason")
    twice = table(name, pd.concat([study, study.assign(seed=1)], ignore_index=True)).tidy
    pd.testing.assert_frame_equal(once, twice.drop(columns="reason"))
    first = study.iloc[:1]
    failed = first.assign(fold=1, status="failed", reason="out of memory")
    tidy = table(name, pd.concat([first, failed], ignore_index=True)).tidy
    assert set(tidy["reason"]) == {"fold 1: out of memory"}
    assert len(tidy) == (SOURCES_OF_NPT if name == "benefit" else 1)
    assert tidy[MEASURES[name]].isna().all()


def test_corruption_lowers_accuracy_and_raises_rmse() -> None:
    tidy = table("corruption", corruption_study()).tidy.set_index(["dataset", "method"])
    assert tidy.loc[("yacht", "npt"), "change"] == -100
    assert tidy.loc[("breast_cancer", "npt"), "change"] == pytest.approx(-15)
    assert tidy.loc[("breast_cancer", "npt"), "standard_error"] == pytest.approx(5)
    assert (tidy["control"].dropna() == 0).all()
    assert np.exp(tidy.loc[("yacht", "npt"), "effect"]) == pytest.approx(2)
    assert tidy.loc[("breast_cancer", "npt"), "effect"] == pytest.approx(0.15)


def test_doses_are_means_over_folds() -> None:
    tidy = table("dose_response", dose_study()).tidy
    means = tidy.set_index(["dataset", "method", "kind", "share"])
    deleted = means.loc["yacht", "npt", "delete", 0.9]
    assert (deleted["error"], deleted["standard_error"]) == pytest.approx((4.5, 1.0))
    assert np.exp(deleted["effect"]) == pytest.approx((3.5 * 5.5 / 3) ** 0.5)
    assert means.loc[("yacht", "npt", "shuffle", 1.0), "effect"] == 0
    classes = means.loc["breast_cancer", "npt", "delete", 0.9]
    assert (classes["error"], classes["effect"]) == pytest.approx((30, 0.5))


def test_a_fold_without_a_loss_leaves_no_mean() -> None:
    study = dose_study()
    answer = kinds()["dose_response"].view.answer
    assert answer(table("dose_response", study).tidy).startswith("Deleting 90 % of them multiplies")
    without_error = study["doses"].str.replace("[6.0, 13.5]", "[0.0, 13.5]")
    study["doses"] = without_error.where(study["fold"] == 0, study["doses"])
    tidy = table("dose_response", study).tidy
    assert tidy.query("method == 'knn' and kind == 'delete'")["effect"].isna().all()
    assert "k-NN" not in answer(tidy)
    assert answer(tidy.query("kind == 'shuffle'")) == ""


def test_deletion_is_tested_and_compared_with_the_paper() -> None:
    deletion = table("deletion", deletion_study(EIGHT))
    tidy = deletion.tidy.set_index("dataset")
    protein = tidy.loc["protein"]
    assert protein["probed"] == 8
    assert protein[["left", "reduced"]].tolist() == [0.255, 4]
    assert protein["kept"] == 4.5
    assert protein["p_deleted"] == pytest.approx(1 / 2**8)
    assert np.isnan(tidy.loc["yacht", "p_deleted"])
    (section,) = deletion.sections
    assert PAPER in section.notes
    assert "Own duplicate kept" not in section.columns
    lookup = deletion_study([5.0, 4.0], "concrete", partner=0.5)
    (section,) = table("deletion", lookup).sections
    assert PAPER not in section.notes
    assert texts(section.columns["Own duplicate kept"]) == ["50 %", "–"]


def test_half_of_the_heads_are_local() -> None:
    heads = attention_heads(attention_study())
    assert heads["is_local"].tolist() == [0, 1, 0, 1]
    assert heads["typical"].eq(0.2).all()
    tidy = table("attention", attention_study()).tidy.iloc[0]
    assert (tidy["local"], tidy["tested"], tidy["untrained"]) == (2, 4, pytest.approx(0.1))
    assert tidy["nearness"] == pytest.approx(0)


def test_the_most_local_head_is_drawn_large() -> None:
    study = attention_study()
    heads = [{"layer": 1, "head": head, "nearness": [0.1, head % 3]} for head in range(6)]
    study["heads"] = json.dumps({"heads": heads})
    study["maps"] = json.dumps({"rows": [[[1.0, float(head)]] for head in range(6)]})
    axis, *_ = kinds()["attention"].view.figure("attention", study, SCORING).axes
    assert "layer 1, head 2" in axis.get_xlabel()
    assert axis.images[0].get_array().tolist() == [[1, 2]]


def test_lookup_predictions_are_drawn_against_the_target() -> None:
    pairs = json.dumps({"truth": [1.0, 2.0], "predicted": [1.5, 2.0]})
    study = lookup_study().assign(looked_up=pairs)
    (axis,) = kinds()["lookup"].view.figure("predictions", study, SCORING).axes
    assert axis.collections[0].get_offsets().tolist() == [[1.0, 1.5], [2.0, 2.0]]


def test_a_model_without_heads_has_a_reason() -> None:
    empty = {"heads": json.dumps({"heads": []}), "maps": json.dumps({"rows": []})}
    study = attention_study().iloc[:1].assign(**empty)
    tidy = table("attention", study).tidy
    assert tidy["reason"].item() == "it has no attention between datapoints"
    kinds()["attention"].view.figure("attention", study, SCORING)


def test_lookup_has_the_errors_of_baselines_and_of_the_paper() -> None:
    protein = table("lookup", lookup_study()).tidy.iloc[0]
    assert (protein["rmse"], protein["standard_error"]) == pytest.approx((0.6, 0.1))
    assert (protein["mlp_rmse"], protein["published_npt"]) == (1.5, 0.46)
    with_reasons = lookup_study("yacht").assign(compare_with_reasons="MLP: out of memory")
    (section,) = table("lookup", with_reasons).sections
    assert "MLP: out of memory" in section.notes
    assert "Paper, NPT" not in section.columns
