"""The report, and a study kind of which it knows nothing."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.rows import plan, prepared
from tests.workflow.report.toy import FAILED, SCORING, benchmark_study, seeds_study
from workflow import studies
from workflow.planning.run import Run
from workflow.report.cells import text
from workflow.report.failures import failures
from workflow.report.files import write_figures, write_tables
from workflow.report.page import answers, extent, render, run_line
from workflow.report.provenance import version_lines
from workflow.report.run_facts import run_facts
from workflow.report.settings import all_settings, most_frequent
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind

MADE_UP = {
    "__init__": """
from workflow.studies.study_kind import StudyKind
KIND = StudyKind("made_up", "How large is it?", 0, tables=("sizes",), figures=("sizes",))
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
figure.__name__ = "sizes"
VIEW = View((sizes,), (figure,), Card("How large?", sizes))
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
    frames: dict[str, pd.DataFrame],
    kind_names: dict[str, str],
    results: Path,
    runs: Sequence[Run] = (),
) -> str:
    """The report of studies whose figures are drawn first."""
    (results / "figures").mkdir(parents=True)
    for name, frame in frames.items():
        kind = kinds()[kind_names[name]]
        write_figures(name, kind, frame, SCORING, results / "figures")
    rows = answers(frames, kind_names, SCORING)
    return render(
        frames, kind_names, SCORING, "toy", results, [prepared()], runs=runs, answers=rows
    )


def sizes_study() -> pd.DataFrame:
    return benchmark_study().assign(size=np.arange(8.0))


def test_made_up_kind_appears_in_tables(made_up: StudyKind, tmp_path: Path) -> None:
    write_tables("big", made_up, sizes_study(), SCORING, "toy", tmp_path)
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert written == {f"big.sizes.{ending}" for ending in ("csv", "md", "tex", "html")}
    assert len(pd.read_csv(tmp_path / "big.sizes.csv")) == 8
    assert "| 7.0" in (tmp_path / "big.sizes.md").read_text(encoding="utf-8")


def test_made_up_kind_appears_in_figures(made_up: StudyKind, tmp_path: Path) -> None:
    write_figures("big", made_up, sizes_study(), SCORING, tmp_path)
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert written == {f"big.sizes.{ending}" for ending in ("svg", "pdf", "png")}


@pytest.mark.usefixtures("made_up")
def test_made_up_kind_appears_in_the_report(tmp_path: Path) -> None:
    frames = {"main": benchmark_study(), "big": sizes_study()}
    html = page(frames, {"main": "benchmark", "big": "made_up"}, tmp_path / "results")
    assert '<h2 id="big">How large is it?</h2>' in html
    assert '<a href="#big">How large?</a>' in html
    assert "<dt>Size</dt><dd>0.0</dd>" in html
    assert html.index("How large?") < html.index("How accurate are the models?")
    assert "One size per dataset." in html
    assert "Sizes of &lt;datasets&gt; <a" in html
    assert "A <code>size</code>." in html
    assert "../tables/big.sizes.tex" in html


def test_studies_of_one_kind_show_their_names(tmp_path: Path) -> None:
    frames = {"main": benchmark_study(), "other": benchmark_study()}
    html = page(frames, dict.fromkeys(frames, "benchmark"), tmp_path)
    assert "How good are the methods? <code>other</code>" in html


def test_names_of_others_are_escaped(tmp_path: Path) -> None:
    frames = {"main": benchmark_study().replace({"method": {"knn": "<script>k</script>"}})}
    html = page(frames, {"main": "benchmark"}, tmp_path)
    assert "<script>k" not in html
    assert "&lt;script&gt;k" in html


def test_a_study_says_what_it_rests_on() -> None:
    assert extent(benchmark_study()) == "Based on 2 datasets, 2 folds."
    probed = benchmark_study().query("fold == 0").assign(rows=[8, 8, 12, 12])
    assert extent(probed) == (
        "Based on 2 datasets, 1 fold; 8 to 12 probed test rows per fold and dataset; the "
        "variation between trainings is unknown."
    )
    assert extent(seeds_study({0: [1.0, 2.0]})) == "Based on 1 dataset, 1 fold, 2 seeds."


def test_note_of_the_configuration_comes_first(tmp_path: Path) -> None:
    frames = {"main": benchmark_study()}
    (tmp_path / "figures").mkdir()
    write_figures("main", kinds()["benchmark"], frames["main"], SCORING, tmp_path / "figures")
    note = "Settings were chosen with these folds in view <by hand>."
    html = render(frames, {"main": "benchmark"}, SCORING, "toy", tmp_path, [], note=note)
    assert (
        "<strong>Read first.</strong> Settings were chosen with these folds in view &lt;by" in html
    )


def test_scores_lead_to_the_rows_of_their_run(tmp_path: Path) -> None:
    study = benchmark_study()
    study["source"] = study["method"].map({"npt": None, "knn": "elsewhere.csv"})
    runs = list(plan().runs.values())
    html = page({"main": study}, {"main": "benchmark"}, tmp_path, runs)
    links = set(re.findall(r"class='raw' href='([^']*)'", html))
    assert links == {f"../runs/{run.stem}.jsonl" for run in first_of(runs, "yacht/npt/base")}


def first_of(runs: list[Run], key: str) -> list[Run]:
    return [run for run in runs if run.key == key][:1]


def test_run_has_its_days_machine_and_computing_time() -> None:
    study = benchmark_study().assign(
        fit_seconds=60.0,
        predict_seconds=1.0,
        machine="Processor, 2 cores",
        date=["2026-11-30", "2026-12-01"] * 4,
    )
    days, computing, machine, *_ = run_facts([study, study])
    assert days == "30 November 2026 to 1 December 2026"
    assert computing == "8 min 8 s of training"
    assert machine == "Processor, 2 cores"
    several = study.assign(machine=["a", "b"] * 4, date="2026-12-01")
    assert [run_facts([several])[place] for place in (0, 2)] == ["1 December 2026", "2 machines"]


def test_all_settings_are_shown_beside_the_defaults() -> None:
    planned = plan(settings={"npt": {"width": 24, "heads": 4}}, methods=["npt"])
    (section,) = all_settings(list(planned.runs.values()))
    of_width = [
        cells[section.columns["Setting"].index(text("width"))] for cells in section.columns.values()
    ]
    assert [cell.text for cell in of_width] == ["width", "24", "24", "64"]
    assert [cell.bold for cell in of_width] == [False, True, True, False]


def test_run_is_said_in_a_line() -> None:
    line = run_line({"main": benchmark_study(), "other": benchmark_study()}, "toy")
    assert line == "Run toy: 2 datasets × 2 folds × 2 methods"


def test_folds_with_one_reason_share_a_line() -> None:
    study = benchmark_study().query("dataset == 'yacht'").assign(**FAILED)
    assert failures({"main": study}, SCORING) == [
        "main: npt (base) on yacht, folds 0-1: out of memory",
        "main: knn (base) on yacht, folds 0-1: out of memory",
    ]


def test_undefined_metric_is_a_failure() -> None:
    study = benchmark_study()
    study.loc[0, "test_auroc"] = np.nan
    (line,) = failures({"main": study}, SCORING)
    assert line.startswith("main: npt (base) on breast_cancer, fold 0: AUROC")


def test_failed_seed_is_named() -> None:
    study = seeds_study({0: [1.0, 2.0]})
    study.loc[1, list(FAILED)] = list(FAILED.values())
    (line,) = failures({"main": study}, SCORING)
    assert line.startswith("main: npt (base) on yacht, seed 1, fold 0:")


def test_most_frequent_settings_leave_updates_out() -> None:
    chosen = [{"k": 3, "update": 9}, {"k": 3, "update": 4}, {"k": 5, "update": 7}]
    assert most_frequent(chosen) == "k 3 (2 of 3 trainings); best weights after 4 to 9 updates"


def test_versions_of_all_machines_are_listed() -> None:
    study = benchmark_study()
    study["source"] = [None] * 4 + ["theirs"] * 4
    study.loc[4:, "versions"] = json.dumps({"numpy": "1"})
    lines = version_lines([study])
    assert lines[:2] == ["Libraries: numpy 2.", "Libraries: numpy 1."]
    assert "External results of npt, knn: theirs." in lines
