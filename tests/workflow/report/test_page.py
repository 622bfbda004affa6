"""The report, and a study kind of which it knows nothing."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.rows import prepared
from tests.workflow.report.toy import FAILED, SCORING, benchmark_study, seeds_study
from workflow.config.models import StudyConfig
from workflow.presentation.cells import number, text
from workflow.presentation.drawing import panels
from workflow.presentation.sections import Section, Table, View
from workflow.report.files import write_tables
from workflow.report.page import extent, failures, render, run_line, version_lines
from workflow.report.study import reported_studies
from workflow.report.summary import reference_study
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind


def sizes(study: pd.DataFrame) -> Table:
    columns = {
        "Dataset": [text(name) for name in study["dataset"]],
        "Size": [number(size, 1) for size in study["size"]],
    }
    return Table(study, (Section("Sizes of <datasets>", columns, ("A `size`.",)),))


def figure(study: pd.DataFrame) -> Figure:
    """One size
    per dataset.
    """
    return panels(1, 3)[0]


def answer(tidy: pd.DataFrame) -> str:
    return f"The largest is {tidy['size'].max():.0f}."


class MadeUp(StudyKind):
    """A kind of which the report knows nothing."""

    @property
    def view(self) -> View:
        return View({"sizes": sizes}, {"figure": figure}, columns=("Size",), answer=answer)


def page(
    frames: dict[str, pd.DataFrame], blocks: dict[str, StudyConfig], results: Path, note: str = ""
) -> str:
    """The report of studies whose figures are empty."""
    reported = reported_studies(frames, blocks, SCORING)
    for study in reported:
        for figure in study.page_figures:
            path = results / f"figures/{study.name}/{figure}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('<svg viewBox="0 0 1 1"></svg>')
    return render(reported, SCORING, "toy", results, [prepared()], note)


def test_made_up_kind_appears_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = MadeUp("made_up", "How large?", 0)
    monkeypatch.setitem(kinds(), "made_up", made_up)
    frames = {"big": benchmark_study().assign(size=np.arange(8.0))}
    write_tables(tmp_path / "big", made_up.view, frames["big"], SCORING)
    assert len(pd.read_csv(tmp_path / "big/sizes.csv")) == 8
    html = page(frames, {"big": StudyConfig(kind="made_up")}, tmp_path)
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
    html = page(frames, dict.fromkeys(frames, StudyConfig()), tmp_path, "By <hand>.")
    assert html.count("<h2>How accurate?</h2>") == 1
    assert html.count('<div id="other">') == 1
    assert "<script>k" not in html
    assert "&lt;script&gt;k" in html
    assert "By &lt;hand&gt;." in html


def test_questions_come_in_the_order_of_kinds_before_the_controls(tmp_path: Path) -> None:
    names = ("attention", "corruption")
    frames = {name: reference_study(f"quick/{name}") for name in names}
    html = page(frames, {name: StudyConfig(kind=name) for name in names}, tmp_path)
    assert re.findall(r"<h2>(.*?)</h2>", html) == [
        "Do predictions depend on other rows?",
        "Which rows matter?",
        "Controls",
        "Data, settings, provenance",
    ]


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
    fewer = study.assign(study="corruption").query("fold == 0")
    assert run_line([study, fewer], "toy").startswith("Run toy: 2 datasets × up to 2 folds × 2 ")
    seeds = pd.concat([study, study.assign(seed=1, rows=20)])
    assert extent(seeds) == "2 datasets × 2 folds × 2 seeds, at most 20 probed test rows of each"
    partly = study.assign(fit_seconds=[60.0, None] * 4)
    assert " · at least 4.1 minutes" in run_line([partly], "toy")
    several = study.assign(machine=["a", "b"] * 4, date="2026-12-01")
    assert run_line([several], "toy").endswith("2 machines")


def test_missing_results_have_a_line_of_their_folds_and_seed() -> None:
    study = benchmark_study()
    is_yacht = study["dataset"] == "yacht"
    study.loc[is_yacht, list(FAILED)] = list(FAILED.values())
    study.loc[0, "test_auroc"] = np.nan
    undefined, *yacht = failures({"main": study}, SCORING)
    assert undefined.startswith("main: npt (base) on breast_cancer: no AUROC")
    assert [line.split(":")[1] for line in yacht] == [
        " npt (base) on yacht",
        " knn (base) on yacht",
    ]
    assert all("0-1" in line for line in yacht)
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
