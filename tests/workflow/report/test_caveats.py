"""What the report says about the size of a run before its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.nn.settings import NPTSettings
from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.planning.run import Run
from workflow.report.caveats import caveats
from workflow.report.shipped import shipped_section
from workflow.report.summary import reference_study
from workflow.report.titles import TOO_SHORT, is_too_short, method_title, npt_of_title, titles_of
from workflow.studies import kinds


def run(method: str = "npt", **changes: Any) -> Run:
    settings = {**NPTSettings().model_dump(), **changes}
    return Run(
        dataset="yacht",
        method=method,
        variant="base",
        seed=0,
        folds=(0,),
        settings=settings,
        data="",
    )


def said(*runs: Run, study: pd.DataFrame | None = None) -> str:
    studies = [] if study is None else [study]
    return " ".join(caveats(studies, [], runs))


def test_npts_below_the_default_size_are_small() -> None:
    text = said(run(width=8, layers=2, updates=200), run(width=16, layers=2, updates=200))
    assert "width 8 to 16, layers 2 and updates 200 (in the paper 128, 8 and 10,000)" in text
    assert said(run(width=128, updates=10_000)) == ""
    assert said(run("knn", width=8)) == ""


def test_sizes_are_of_all_configurations_of_a_search() -> None:
    searched = run().model_copy(update={"trials": {"a": run(width=128, layers=2).settings}})
    assert "layers 2 (in the paper 8)" in said(searched)


def test_validation_labels_are_visible_unless_they_are_hidden() -> None:
    assert "sees validation labels" in said(run(target_mask=0.5))
    hidden = run(target_mask=0.5, validation_labels_at_test=False)
    assert "sees validation labels" not in said(hidden)


def test_searches_are_counted_with_untuned_methods() -> None:
    study = benchmark_study().assign(configurations=[1, 1, 4, 4, 1, 1, 20, 20])
    text = said(study=study)
    assert "best of 1 to 20 configurations" in text
    assert "NPT is untuned" in text
    assert "untuned" not in said(study=study.assign(configurations=[2, 2, 4, 4, 2, 2, 20, 20]))
    assert "configurations" not in said(study=study.assign(configurations=1))


def updates_study(updates: int) -> pd.DataFrame:
    """NPT of Breast Cancer and Yacht with updates, and k-NN."""
    study = benchmark_study()
    return study.assign(updates=np.where(study["method"] == "npt", updates, np.nan))


@pytest.mark.parametrize(
    ("updates", "title"),
    [(200, "NPT, 200 updates"), (4_000, "NPT, 4,000 updates"), (10_000, "NPT")],
)
def test_title_has_updates_below_the_papers(updates: int, title: str) -> None:
    benchmark = kinds()["benchmark"]
    section = benchmark.table("scores", updates_study(updates), SCORING).sections[0]
    assert {cell.text for cell in section.columns["Method"]} == {title, "k-NN"}
    assert npt_of_title(title) == "npt"
    assert method_title("npt", "base") == "NPT"  # outside of the study


def test_title_has_the_range_of_updates() -> None:
    study = updates_study(200)
    study.loc[(study["method"] == "npt") & (study["dataset"] == "yacht"), "updates"] = 1_000
    with titles_of(study):
        assert method_title("npt", "base") == "NPT, 200 to 1,000 updates"
    assert npt_of_title("NPT, many tables") is None


def test_dependence_has_no_verdict_below_a_tenth_of_the_papers_updates() -> None:
    assert is_too_short(updates_study(999), "npt", "base")
    assert not is_too_short(updates_study(1_000), "npt", "base")
    assert not is_too_short(updates_study(200), "knn", "base")
    corruption = kinds()["corruption"]
    study = reference_study("quick/corruption")
    (verdict,) = {
        card.verdict for card in corruption.cards(study, SCORING) if TOO_SHORT in card.verdict
    }
    assert verdict.startswith("NPT, 200 updates")


def test_shorter_runs_have_the_shipped_npt_for_reference() -> None:
    section = shipped_section([updates_study(200)], SCORING)
    assert section is not None
    assert "NPT, 1,000 updates" in {cell.text for cell in section.columns["Method"]}
    assert {cell.text for cell in section.columns["Dataset"]} == {"Breast Cancer", "Yacht"}
    assert shipped_section([updates_study(1_000)], SCORING) is None
    assert shipped_section([benchmark_study()], SCORING) is None
