"""The numbers that the README shows are those of the reference run, and the reference run is a working NPT's."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from npt.interface import TASKS
from npt.metrics import METRICS, PAPER_METRICS
from workflow.report.section import TASK_TITLES, Section
from workflow.report.summary import read_study
from workflow.report.tables import TABLES

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference" / "quick"


def study(name: str) -> pd.DataFrame:
    return read_study(REFERENCE / f"{name}.csv")


def readme_tables() -> list[str]:
    """Primary metrics of all methods, then the corruption of NPT, as Markdown."""
    columns = []
    for task in TASKS:
        metric = METRICS[PAPER_METRICS[task]].title
        sections = TABLES["metrics"](study("main"), PAPER_METRICS).sections
        (section,) = [s for s in sections if s.title.startswith(f"{TASK_TITLES[task]}: test {metric} ")]
        columns.append(section.cells.set_index("Method").rename(columns=lambda name, metric=metric: f"{name}, {metric}"))
    main = pd.concat(columns, axis=1).reset_index()
    corruption = TABLES["corruption"](study("corruption"), PAPER_METRICS).sections
    lookup = TABLES["lookup"](study("lookup"), PAPER_METRICS).sections
    return [Section("main", main).markdown(), *(section.markdown() for section in (*corruption, *lookup))]


def test_the_readme_shows_the_reference_run() -> None:
    text = (ROOT / "README.md").read_text()
    for table in readme_tables():
        assert table in text


@pytest.mark.parametrize(
    ("dataset", "metric", "least"), [("breast_cancer", "test_auroc", 0.98), ("wine", "test_accuracy", 0.95)]
)
def test_the_reference_npt_classifies(dataset: str, metric: str, least: float) -> None:
    rows = study("main").query("dataset == @dataset and method == 'npt'")
    assert len(rows) == 3
    assert rows[metric].mean() >= least


def test_the_reference_npt_looks_rows_up_and_follows_an_intervention() -> None:
    rows = study("lookup").set_index("lookup")
    assert (rows["correlation"] >= 0.99).all()
    assert (rows["intervention_correlation"] >= 0.98).all()
    assert rows.loc["add_one", "nearest_rmse"] > 10 * rows.loc["add_one", "rmse"]
    assert (rows["alone_rmse"] > 5 * rows["rmse"]).all()


@pytest.mark.parametrize("dataset", ["yacht", "concrete"])
def test_the_reference_npt_predicts_numbers_better_than_its_neighbours(dataset: str) -> None:
    means = study("main").query("dataset == @dataset").groupby("method")["test_rmse"].mean()
    assert means["npt"] < means["knn"]
