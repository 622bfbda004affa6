"""Titles of shortened trainings."""

import numpy as np
import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.presentation.titles import method_title
from workflow.studies import kinds


@pytest.mark.parametrize(
    ("updates", "yacht_updates", "title"),
    [
        (200, 200, "NPT, 200 updates"),
        (200, 1_000, "NPT, 200 to 1,000 updates"),
        (10_000, 10_000, "NPT"),
    ],
)
def test_title_has_updates_below_the_papers(updates: int, yacht_updates: int, title: str) -> None:
    study = benchmark_study()
    counts = np.where(study["dataset"] == "yacht", yacht_updates, updates)
    study = study.assign(updates=np.where(study["method"] == "npt", counts, np.nan))
    section = kinds()["benchmark"].view.table("scores", study, SCORING).sections[0]
    assert {cell.text for cell in section.columns["Method"]} == {title, "k-NN"}
    assert method_title("npt", "base") == "NPT"  # outside of the study
