"""Dependence and benefit: movements of the probe, losses over folds, table and figure."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.nn.probe import NPTProbe
from npt.probing import Probe
from npt.table import Split, Table
from tests.workflow.report.toy import FAILED, texts
from tests.workflow.studies.frames import SCORING, benefit_study
from tests.workflow.studies.models import small_npt
from workflow.presentation.sections import Section
from workflow.presentation.statistics import fold_test
from workflow.studies import kinds
from workflow.studies.benefit import LABELS, OTHER_ROWS, BenefitOptions, sources_of
from workflow.studies.benefit.probe import probe
from workflow.studies.benefit.view import SELF_TWIN
from workflow.studies.corruption.probe import probe as corruption_probe
from workflow.studies.query import ProbeQuery

KIND = kinds()["benefit"]


def query(probe: Probe, table: Table, split: Split) -> ProbeQuery:
    return ProbeQuery(probe, table, split, split.test, seed=3, options=BenefitOptions())


def effects(study: pd.DataFrame) -> pd.DataFrame:
    tidy = KIND.view.table("benefit", study, SCORING).tidy
    return tidy.set_index(["method", "source"])


def section(study: pd.DataFrame) -> Section:
    (only,) = KIND.view.table("benefit", study, SCORING).sections
    return only


def test_probe_is_the_corruption_with_scores_of_all_test_rows() -> None:
    model, table, split = small_npt("multiclass")
    whole = query(NPTProbe(model), table, split)
    limited = replace(whole, rows=split.test[:3])
    facts, arrays = probe(limited)
    corrupted, _ = corruption_probe(limited)
    assert corrupted.items() <= facts.items()
    assert len(arrays["corrupted_target_all"]) == 3 < len(split.test)
    clean = whole.score(model.predict(split.test).values)
    assert facts["test_nll"] == pytest.approx(clean["nll"])


@pytest.mark.parametrize(
    ("changes", "still"),
    [({"target_mask": 1.0}, "corrupted_target_all"), ({"between_datapoints": False}, "corrupted")],
    ids=["without labels", "without datapoints"],
)
def test_a_twin_does_not_read_what_it_is_without(changes: dict[str, Any], still: str) -> None:
    model, table, split = small_npt("regression", **changes)
    facts, _ = probe(query(NPTProbe(model), table, split))
    assert facts[f"{still}_shift"] == 0
    assert (facts["corrupted_shift"] > 0) == (still != "corrupted")


def test_sources_are_permuted_or_in_twins() -> None:
    assert sources_of([]) == [OTHER_ROWS, LABELS]
    (*_, other) = sources_of(["without_labels", "without_time_of_day"])
    assert (other.title, other.permuted) == ("time of day", None)


def test_effects_are_means_over_folds_and_tested() -> None:
    tidy = effects(benefit_study())
    labels = tidy.loc[("npt", "labels of other rows")]
    logarithms = np.log([2.9, 3.0, 3.1])
    assert labels["depends"] == pytest.approx(logarithms.mean())
    assert labels["depends_error"] == pytest.approx(logarithms.std(ddof=1) / 3**0.5)
    expected, _ = fold_test(pd.Series(logarithms), 1 / 7)
    assert labels["depends_p_value"] == pytest.approx(expected)
    assert labels["benefits"] == pytest.approx(np.log([0.9, 1.0, 1.1]).mean())
    assert labels["benefits_p_value"] > 0.9
    assert (labels["depends_worse"], labels["benefits_worse"]) == (3, 1)
    rows = tidy.loc[("npt", "other rows")]
    assert (rows["depends"], rows["depends_error"]) == (np.log(4), 0)
    assert np.isnan(rows["depends_p_value"])
    assert rows["benefits"] == pytest.approx(np.log([2.0, 2.1, 2.2]).mean())


def test_classes_lose_likelihood() -> None:
    study = benefit_study().assign(task="binary", dataset="breast_cancer")
    for name in ("test", "clean", "corrupted", "corrupted_target_all"):
        study[f"{name}_auroc"] = 0.9
        study[f"{name}_nll"] = study[f"{name}_rmse"] / 10
    labels = effects(study).loc[("npt", "labels of other rows")]
    assert labels["depends"] == pytest.approx(0.2)
    assert texts(section(study).columns["Depends"])[1] == "**+0.20 (3 of 3)**"


def test_rounding_is_no_loss() -> None:
    study = benefit_study()
    probed = study["variant"] == "base"
    study.loc[probed, "corrupted_rmse"] = [1.000001, 1.0, 1.000002, 1.0, 1.000001, 1.0]
    rows = effects(study).loc[("npt", "other rows")]
    assert (rows["depends"], rows["depends_error"]) == (0, 0)


@pytest.mark.parametrize(
    ("failed", "note"),
    [
        ("variant == 'without_labels' and fold == 1", "(without_labels) on Yacht: fold 1: out of"),
        ("variant == 'without_labels'", f"(without_labels) on Yacht: {SELF_TWIN}"),
        ("variant == 'base' and method == 'npt'", "NPT on Yacht: fold 0: out of memory"),
    ],
    ids=["failed twin", "the model itself", "failed base"],
)
def test_missing_results_are_dashes_with_a_reason(failed: str, note: str) -> None:
    study = benefit_study()
    rows = study.query(failed).index
    if SELF_TWIN in note:
        study = study.drop(rows)
    else:
        study.loc[rows, list(FAILED)] = list(FAILED.values())
    result = section(study)
    assert texts(result.columns["Benefits"])[1] == "–"
    assert len([line for line in result.notes if note in line]) == 1
    if "base" in failed:
        assert texts(result.columns["Depends"])[:3] == ["–"] * 3
        assert "without_labels" not in " ".join(result.notes)


def test_figure_pairs_both_effects_of_a_source() -> None:
    figure = KIND.view.figure("benefit", benefit_study(), SCORING)
    (axis,) = figure.axes
    assert axis.get_title() == "NPT"
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels[1] == "Yacht: labels of other rows"
    depends, benefits = [line.get_xdata() for line in axis.lines if line.get_marker() in "oD"][:2]
    assert depends[:2] == pytest.approx([4, 3], rel=1e-2)
    assert benefits == pytest.approx([2.1, 1, 1.5], rel=1e-2)


def test_twins_are_tested_over_six_datasets() -> None:
    studies = []
    for index in range(6):
        study = benefit_study().assign(dataset=f"d{index}")
        study.loc[study["variant"] == "without_labels", "test_rmse"] = 1.1 + 0.1 * index
        studies.append(study)
    table = KIND.view.table("benefit", pd.concat(studies, ignore_index=True), SCORING)
    expected = np.exp(np.log([1.1, 1.2, 1.3, 1.4, 1.5, 1.6]).mean())
    first = table.sections[0]
    assert first.columns["Datasets"][1].text == "regressions"
    assert first.columns["Benefits"][1].text == "× 1.3 (6 of 6)"
    assert first.columns["p, benefits"][1].text == f"{2 / 2**6:.3f}"
    assert first.columns["Depends"][1].text.startswith("× 3.0 ")
    assert texts(first.columns["Method"]) == ["NPT"] * 3 + ["k-NN"] * 2
    five = KIND.view.table("benefit", pd.concat(studies[1:], ignore_index=True), SCORING)
    assert len(five.sections) == 1
    figure = KIND.view.figure("benefit", pd.concat(studies, ignore_index=True), SCORING)
    (axis,) = figure.axes
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels[1] == "labels of other rows, × RMSE"
    tables, means = [line.get_xdata() for line in axis.lines if line.get_marker() in ".D"][1:3]
    assert tables[1::3] == pytest.approx([1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    assert means[1] == pytest.approx(expected)
