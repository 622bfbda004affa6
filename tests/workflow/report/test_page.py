"""The report, and a study kind of which it knows nothing."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.metrics import PAPER_METRICS
from tests.rows import prepared
from tests.workflow.report.toy import FAILED, SCORING, benchmark_study, seeds_study
from workflow import studies
from workflow.config.reading import read_file
from workflow.config.scoring import Scoring
from workflow.report.files import write_figures, write_tables
from workflow.report.page import extent, render
from workflow.report.provenance import failures, run_line, version_lines
from workflow.report.study import reported_studies
from workflow.report.summary import CONFIG, REFERENCE, reference_study
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind

MADE_UP = {
    "__init__": """
from workflow.studies.study_kind import StudyKind
KIND = StudyKind("made_up", "How large is it?", 0)
""",
    "view": """
from workflow.report.cells import number, text
from workflow.report.drawing import panels
from workflow.report.sections import Section, Table
from workflow.studies.view import Card, View
def sizes(study, scoring):
    tidy = study[["dataset", "size"]]
    columns = {
        "Dataset": [text(name) for name in tidy["dataset"]],
        "Size": [number(size, 1) for size in tidy["size"]],
    }
    return Table(tidy, (Section("Sizes of <datasets>", columns, ("A `size`.",)),))
def figure(study, scoring):
    '''One size
    per dataset.
    '''
    figure, (axis,) = panels(1, 3)
    axis.plot(study["size"])
    return figure
def answer(tidy):
    return f"The largest is {tidy['size'].max():.0f}."
CARD = Card("How large?", "sizes", ("Size",), answer, ("sizes",))
VIEW = View({"sizes": sizes}, {"sizes": figure}, CARD)
""",
}


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StudyKind]:
    """A folder of a kind that the registry finds."""
    folder = tmp_path / "kinds" / "made_up"
    folder.mkdir(parents=True)
    for name, code in MADE_UP.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(folder.parent)])
    importlib.invalidate_caches()
    kinds.cache_clear()
    yield kinds()["made_up"]
    kinds.cache_clear()
    for name in [name for name in sys.modules if name.startswith("workflow.studies.made_up")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(studies, "made_up", raising=False)


def page(
    frames: dict[str, pd.DataFrame], kind_names: dict[str, str], results: Path, note: str = ""
) -> str:
    """The report of studies whose figures are drawn first."""
    (results / "figures").mkdir(parents=True)
    for name, frame in frames.items():
        kind = kinds()[kind_names[name]]
        write_figures(name, kind, frame, SCORING, results / "figures")
    reported = reported_studies(frames, kind_names, SCORING)
    return render(reported, SCORING, "toy", results, [prepared()], note)


def sizes_study() -> pd.DataFrame:
    return benchmark_study().assign(size=np.arange(8.0))


def test_made_up_kind_has_files(made_up: StudyKind, tmp_path: Path) -> None:
    write_tables("big", made_up, sizes_study(), SCORING, tmp_path)
    write_figures("big", made_up, sizes_study(), SCORING, tmp_path)
    written = {path.name for path in (tmp_path / "big").iterdir()}
    assert written == {f"sizes.{ending}" for ending in ("csv", "tex", "svg", "pdf", "png")}
    assert len(pd.read_csv(tmp_path / "big/sizes.csv")) == 8


@pytest.mark.usefixtures("made_up")
def test_made_up_kind_appears_in_the_report(tmp_path: Path) -> None:
    frames = {"main": benchmark_study(), "big": sizes_study()}
    html = page(frames, {"main": "benchmark", "big": "made_up"}, tmp_path / "results")
    assert "<h2>How large?</h2>" in html
    assert '<a href="#big">How large?</a>' in html
    assert "<dd>The largest is 7.</dd>" in html
    assert "One size per dataset." in html
    assert "Sizes of &lt;datasets&gt;" in html
    assert "A <code>size</code>." in html
    assert "../tables/big/sizes.csv" in html


def test_studies_of_a_question_share_a_section_and_names_are_escaped(tmp_path: Path) -> None:
    study = benchmark_study().replace({"method": {"knn": "<script>k</script>"}})
    frames = {"main": study, "other": study}
    html = page(frames, dict.fromkeys(frames, "benchmark"), tmp_path, "By <hand>.")
    assert html.count("<h2>How accurate?</h2>") == 1
    assert html.count('<div id="other">') == 1
    assert "<script>k" not in html
    assert "&lt;script&gt;k" in html
    assert "By &lt;hand&gt;." in html


def test_page_of_the_default_run_is_short(tmp_path: Path) -> None:
    """At most 3,000 words and ten visible tables, and each card's columns exist."""
    config = read_file(REFERENCE / "quick" / CONFIG)
    frames = {name: reference_study(f"quick/{name}") for name in config.studies}
    names = {name: study.kind for name, study in config.studies.items()}
    reported = reported_studies(frames, names, Scoring(PAPER_METRICS))
    for study in reported:
        card = study.kind.view.card
        assert card is not None
        assert study.sections
        for figure in study.page_figures:
            path = tmp_path / f"figures/{study.name}/{figure}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('<svg viewBox="0 0 1 1"></svg>')
    html = render(reported, SCORING, "quick", tmp_path, [])
    body = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", html, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", " ", body).split()
    assert len(words) <= 3_000
    visible = re.sub(r"<details>.*?</details>", "", body, flags=re.DOTALL)
    assert visible.count("<table") <= 10
    questions = re.findall(r"<h2>(.*?)</h2>", html)
    assert questions == [
        "How accurate?",
        "Do predictions depend on other rows?",
        "Does training with them help?",
        "Which rows matter?",
        "Controls",
        "Data, settings, provenance",
    ]


def test_extent_counts_datasets_folds_and_seeds() -> None:
    assert extent(benchmark_study()) == "2 datasets, 2 folds"
    probed = benchmark_study().query("fold == 0").assign(rows=[8, 8, 12, 12])
    assert extent(probed) == "2 datasets, 1 fold, at most 12 probed test rows of each"
    assert extent(seeds_study({0: [1.0, 2.0]})) == "1 dataset, 1 fold, 2 seeds"


def test_run_has_its_days_machine_and_computing_time() -> None:
    study = benchmark_study().assign(
        fit_seconds=60.0,
        predict_seconds=1.0,
        machine="Processor, 2 cores",
        date=["2026-11-30", "2026-12-01"] * 4,
    )
    counts, days, computing, machine = run_line([study, study], "toy").split(" · ")
    assert counts == "Run toy: 2 datasets × 2 folds × 2 methods"
    assert days == "2026-11-30 to 2026-12-01"
    assert computing.startswith("8.1 minutes")
    assert machine == "Processor, 2 cores"
    several = study.assign(machine=["a", "b"] * 4, date="2026-12-01")
    assert run_line([several], "toy").endswith("2 machines")


def test_missing_results_have_a_line_of_their_folds_and_seed() -> None:
    study = benchmark_study()
    is_yacht = study["dataset"] == "yacht"
    study.loc[is_yacht, list(FAILED)] = list(FAILED.values())
    study.loc[0, "test_auroc"] = np.nan
    undefined, *of_yacht = failures({"main": study}, SCORING)
    assert undefined.startswith("main: npt (base) on breast_cancer: AUROC")
    assert [line.split(":")[1] for line in of_yacht] == [
        " npt (base) on yacht",
        " knn (base) on yacht",
    ]
    assert all("0-1" in line for line in of_yacht)
    seeds = seeds_study({0: [1.0, 2.0]})
    seeds.loc[1, list(FAILED)] = list(FAILED.values())
    (line,) = failures({"main": seeds}, SCORING)
    assert line.startswith("main: npt (base) on yacht, seed 1:")


def test_versions_of_all_machines_are_listed() -> None:
    study = benchmark_study()
    study["source"] = [None] * 4 + ["theirs"] * 4
    study.loc[4:, "versions"] = json.dumps({"numpy": "1"})
    libraries, *_, external = version_lines([study])
    assert "numpy 1, numpy 2" in libraries
    assert external.endswith("npt, knn: theirs.")
