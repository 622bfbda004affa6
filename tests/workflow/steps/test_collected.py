"""Rows of a collected study join another one, and are not computed again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from npt.interface import UserError
from npt.metrics import PAPER_METRICS
from tests.rows import finish, plan, prepare, study_frame
from workflow.config.reading import parse, read
from workflow.config.scoring import Scoring
from workflow.planning.plan import Plan
from workflow.results.collection import Collector
from workflow.results.study_file import read_collected, read_study, write_study
from workflow.studies import kinds

ROOT = Path(__file__).parents[3]
CONFIG: dict[str, Any] = {
    "folds": "0-2",
    "datasets": ["yacht", "wine"],
    "methods": ["knn", "mlp"],
    "studies": {"main": {}},
}


@pytest.fixture
def collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collected study with the configuration that made it, and prepared datasets."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    prepare("wine")
    made = plan(**CONFIG)
    for stem in made.runs:
        finish(made, stem, chosen={"weights": "distance", "n": [5, 6]}, fits=3)
    path = tmp_path / "theirs" / "main.csv"
    rows = Collector(made).collect(made.studies["main"]).rows
    write_study(path, rows, "main")
    path.with_name("config.yaml").write_text(yaml.safe_dump(CONFIG))
    shutil.rmtree("results/runs")
    return path


def with_npt(path: Path, **changes: Any) -> Plan:
    studies = {"main": {"external_results": [str(path)]}}
    return plan(**{**CONFIG, "methods": ["npt", "knn", "mlp"], "studies": studies, **changes})


def test_rows_are_read_as_they_were(collected: Path) -> None:
    rows = read_collected(collected)
    again = collected.with_name("again.csv")
    write_study(again, rows, "main")
    assert again.read_bytes() == collected.read_bytes()
    assert rows[0].chosen == {"weights": "distance", "n": [5, 6]}


def test_only_other_methods_run(collected: Path) -> None:
    made = with_npt(collected)
    assert {run.method for run in made.runs.values()} == {"npt"}
    for stem in made.runs:
        finish(made, stem)
    joined = Collector(made).collect(made.studies["main"])
    joined.require_complete()
    assert len(joined.rows) == 18
    study = study_frame(joined.rows, "main")
    assert set(study.loc[study["method"] != "npt", "source"]) == {str(collected)}
    ranks = kinds()["benchmark"].table("ranks", study, Scoring(PAPER_METRICS)).tidy
    assert set(ranks["method"]) == {"npt", "knn", "mlp"}
    assert ranks["mean_rank"].notna().all()


def test_folds_that_they_lack_run_here(collected: Path) -> None:
    made = with_npt(collected, folds="0-3")
    folds = {run.folds for run in made.runs.values() if run.method == "knn"}
    assert folds == {(3,)}


def test_other_settings_are_refused(collected: Path) -> None:
    with pytest.raises(UserError, match=r"external_results: .*/knn/base has other settings"):
        with_npt(collected, settings={"knn": {"grid": "quick"}})


def test_configuration_is_needed(collected: Path) -> None:
    collected.with_name("config.yaml").unlink()
    with pytest.raises(UserError, match=r"external_results: .*config\.yaml"):
        with_npt(collected)


def test_other_data_is_refused(collected: Path) -> None:
    made = with_npt(collected)
    prepare("yacht", content="other")
    reasons = {row.reason for row in Collector(made).collect(made.studies["main"]).unfinished}
    assert any("data: of other data" in reason for reason in reasons)


@pytest.mark.parametrize("external", [True, False])
def test_compact_yaml_takes_the_committed_rows(
    external: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    config = parse(ROOT / "workflow" / "configs" / "compact.yaml")
    if not external:
        del config["studies"]["main"]["external_results"]
    made = Plan.of(read(config))
    methods = {run.method for run in made.runs.values()}
    assert methods == ({"npt_compact"} if external else set(config["methods"]))
    rows = read_study(ROOT / "results/reference/baselines/main.csv")
    expected = {row.key for row in made.studies["main"].expected}
    baselines = rows["dataset"] + "/" + rows["method"] + "/" + rows["variant"]
    assert set(baselines) - expected == set(), pd.Series(list(expected))
