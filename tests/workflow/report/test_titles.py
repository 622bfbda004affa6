"""Titles of shortened trainings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.titles import method_title, titles_of
from workflow.studies import kinds


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
    section = benchmark.view.table("scores", updates_study(updates), SCORING).sections[0]
    assert {cell.text for cell in section.columns["Method"]} == {title, "k-NN"}
    assert method_title("npt", "base") == "NPT"  # outside of the study


def test_title_has_the_range_of_updates() -> None:
    study = updates_study(200)
    study.loc[(study["method"] == "npt") & (study["dataset"] == "yacht"), "updates"] = 1_000
    with titles_of(study):
        assert method_title("npt", "base") == "NPT, 200 to 1,000 updates"
