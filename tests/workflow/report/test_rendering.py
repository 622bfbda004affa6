"""Tables as Markdown, LaTeX and HTML."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.cells import MISSING, Cell, emphasised, number, text
from workflow.report.formats import html_note, html_table, latex_table, markdown_table
from workflow.report.sections import Section, with_notes
from workflow.studies import kinds


def odd_section() -> Section:
    """Everything that LaTeX would misread."""
    columns = {
        "Method": [text("a_b & c"), emphasised(text("50 % <x>"))],
        "x^2 ± {y}": [number(1, 0, error=2), text("−3 # $4")],
        "~": [text("\\"), MISSING],
    }
    return Section("100 % of `code_x` ≤ 2 × 3", columns)


def test_markdown_keeps_cells_on_one_line() -> None:
    section = Section("t", {"Method": [text("a|b\n# c")], "x": [emphasised(number(1, 0))]})
    lines = markdown_table(section)
    assert r"a\|b # c" in lines
    assert "**1**" in lines


def test_latex_escapes_special_characters() -> None:
    lines = latex_table(odd_section(), "tab:odd")
    assert r"\caption{100 \% of code\_x $\leq$ 2 $\times$ 3}" in lines
    assert r"a\_b \& c & 1 $\pm$ 2 & \textbackslash{} \\" in lines
    assert r"\textbf{50 \% $<$x$>$} & $-$3 \# \$4 & -- \\" in lines
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:odd}"):
        assert rule in lines


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path) -> None:
    benchmark = kinds()["benchmark"]
    sections = [odd_section()]
    for name in benchmark.view.tables:
        sections += benchmark.view.table(name, benchmark_study(), SCORING).sections
    body = "\n".join(latex_table(section, f"t{n}") for n, section in enumerate(sections))
    head = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}"
    (tmp_path / "all.tex").write_text(f"{head}\n{body}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


def test_html_escapes_cells_and_titles() -> None:
    columns = {"<b>": [text("<script>"), emphasised(text("<i>" + 60 * "x"))]}
    table = html_table(Section("<t>", columns))
    assert "<th>&lt;b&gt;</th>" in table
    assert "<td>&lt;script&gt;</td>" in table
    assert f"<td><strong>&lt;i&gt;{60 * 'x'}</strong></td>" in table


def test_html_note_shows_names_as_code() -> None:
    note = html_note("`Lost` is <b>; \\* a star")
    assert note == "<code>Lost</code> is &lt;b&gt;; * a star"


def test_notes_of_all_sections_come_before_those_of_the_last() -> None:
    sections = [Section("a", {}), Section("b", {}, ("own",))]
    first, last = with_notes(sections, "all")
    assert first.notes == ()
    assert last.notes == ("all", "own")
    assert with_notes([], "all") == ()


def test_optional_columns_without_values_are_left_out() -> None:
    columns = {"a": [Cell("x")], "b": [MISSING], "c": [MISSING]}
    section = Section("t", columns, ("`b` is explained.", "All.")).without_empty("a", "b")
    assert list(section.columns) == ["a", "c"]
    assert section.notes == ("All.",)
