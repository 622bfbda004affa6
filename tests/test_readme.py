"""The numbers that the README shows are those of the reference run, and the reference run is a working NPT's."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from npt.metrics import METRICS, PAPER_METRICS
from npt.table import TASKS
from workflow.config.scoring import Scoring
from workflow.report.corruption import corruption_changes
from workflow.report.dose import skill_from_others
from workflow.report.section import TASK_TITLES, Section
from workflow.report.tables import TABLES
from workflow.results.study_file import read_study

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


def readme_tables() -> list[str]:
    """Primary metrics of all methods, then what the questions to the trained models gave, as Markdown."""
    columns = []
    for task in TASKS:
        metric = METRICS[SCORING.metrics[task]].title
        sections = TABLES["metrics"](study("main"), SCORING).sections
        (section,) = [
            s for s in sections if s.title.startswith(f"{TASK_TITLES[task]}: test {metric} ")
        ]
        columns.append(
            section.cells.set_index("Method").rename(
                columns=lambda name, metric=metric: f"{name}, {metric}"
            )
        )
    main = pd.concat(columns, axis=1).reset_index()
    probes = [
        section
        for name, kind in PROBES.items()
        for section in TABLES[kind](study(name), SCORING).sections
    ]
    return [Section("main", main).markdown(), *(section.markdown() for section in probes)]


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
    lost = skill_from_others(study("dose_response"), "shuffle").set_index(["dataset", "method"])[
        "share"
    ]
    for dataset in ("concrete", "yacht"):
        assert lost[dataset, "knn"] > 0.7
        assert lost[dataset, "linear"] == 0
    changes = corruption_changes(study("corruption"))
    assert changes["control"].abs().max() < 1e-3


def test_the_reference_probes_find_the_duplicate_that_holds_the_answer() -> None:
    table = TABLES["deletion"](study("deletion_lookup"), SCORING).tidy
    assert (table["p_random"] < 0.05).all()
    heads = TABLES["attention"](study("attention_lookup"), SCORING).tidy
    assert (
        heads["partner"] > 5 / 63
    ).all()  # of 63 others, five times what a head that looks at all alike gives it


@pytest.mark.parametrize("dataset", ["yacht", "concrete"])
def test_the_reference_npt_predicts_numbers_better_than_its_neighbours(dataset: str) -> None:
    means = study("main").query("dataset == @dataset").groupby("method")["test_rmse"].mean()
    assert means["npt"] < means["knn"]
