"""What the report says about the size of a run before its numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from npt.nn.settings import NPTSettings
from tests.workflow.report.toy import benchmark_study
from workflow.planning.run import Run
from workflow.report.caveats import caveats


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
    text = said(run(width=8, updates=200), run(width=16, updates=200))
    assert "width 8 to 16 and updates 200 (by default 64 and 100,000)" in text
    assert said(run()) == ""
    assert said(run("knn", width=8)) == ""


def test_sizes_are_of_all_configurations_of_a_search() -> None:
    searched = run().model_copy(update={"trials": {"a": run(layers=2).settings}})
    assert "layers 2 (by default 8)" in said(searched)


def test_validation_labels_are_visible_unless_they_are_hidden() -> None:
    assert "sees validation labels" in said(run(target_mask=0.5))
    hidden = run(target_mask=0.5, validation_labels_at_test=False)
    assert "sees validation labels" not in said(hidden)


def test_searches_are_counted() -> None:
    study = benchmark_study().assign(configurations=[1, 1, 4, 4, 1, 1, 20, 20])
    assert "the best of 4 to 20 configurations on each fold" in said(study=study)
    assert "configurations" not in said(study=study.assign(configurations=1))
