"""The README shows the numbers of the reference run, in which NPT works."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from npt.metrics import METRICS, PAPER_METRICS
from npt.table import TASKS
from workflow.config.scoring import Scoring
from workflow.report.markdown import markdown_table
from workflow.report.table import Section
from workflow.report.titles import TASK_TITLES
from workflow.results.study_file import read_study
from workflow.studies import kinds
from workflow.studies.corruption.tables import with_changes
from workflow.studies.dose_response.tables import lost_skill

SCORING = Scoring(PAPER_METRICS)

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference" / "quick"


PROBES = {
    "corruption": "corruption",
    "dose_response": "dose_response",
    "lookup": "lookup",
    "deletion_lookup": "deletion",
    "attention_lookup": "attention",
}


def study(name: str) -> pd.DataFrame:
    return read_study(REFERENCE / f"{name}.csv")


def sections(name: str, kind: str, table: str) -> tuple[Section, ...]:
    return kinds()[kind].table(table, study(name), SCORING).sections


def readme_tables() -> list[str]:
    """Primary metrics of all methods, then the tables of the probes, as Markdown."""
    columns = {}
    for task in TASKS:
        metric = METRICS[SCORING.metrics[task]].title
        start = f"{TASK_TITLES[task]}: test {metric} "
        for section in sections("main", "benchmark", "metrics"):
            if section.title.startswith(start):
                for title, cells in section.columns.items():
                    columns[title if title == "Method" else f"{title}, {metric}"] = cells
    tables = [markdown_table(Section("main", columns))]
    for name, kind in PROBES.items():
        tables += [markdown_table(section) for section in sections(name, kind, kind)]
    return tables


def test_the_readme_shows_the_reference_run() -> None:
    text = (ROOT / "README.md").read_text()
    for table in readme_tables():
        assert table in text


@pytest.mark.parametrize(
    ("dataset", "metric", "least"),
    [("breast_cancer", "test_auroc", 0.98), ("wine", "test_accuracy", 0.95)],
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


def test_in_the_reference_run_knn_lives_off_its_rows_and_a_linear_model_needs_none() -> None:
    lost = lost_skill(study("dose_response"), "shuffle").set_index(["dataset", "method"])["share"]
    for dataset in ("concrete", "yacht"):
        assert lost[dataset, "knn"] > 0.7
        assert lost[dataset, "linear"] == 0
    changes = with_changes(study("corruption"))
    assert changes["control"].abs().max() < 1e-3


def test_the_reference_probes_find_the_duplicate_that_holds_the_answer() -> None:
    table = kinds()["deletion"].table("deletion", study("deletion_lookup"), SCORING).tidy
    assert (table["p_random"] < 0.05).all()
    heads = kinds()["attention"].table("attention", study("attention_lookup"), SCORING).tidy
    assert (
        heads["partner"] > 5 / 63
    ).all()  # of 63 others, five times what a head that looks at all alike gives it


@pytest.mark.parametrize("dataset", ["yacht", "concrete"])
def test_the_reference_npt_predicts_numbers_better_than_its_neighbours(dataset: str) -> None:
    means = study("main").query("dataset == @dataset").groupby("method")["test_rmse"].mean()
    assert means["npt"] < means["knn"]
