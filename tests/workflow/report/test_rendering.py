"""Tables as Markdown, LaTeX and HTML."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.cells import MISSING, Cell, emphasised, number, seconds, text
from workflow.report.html import html_note, html_table
from workflow.report.latex import latex
from workflow.report.markdown import markdown, markdown_table
from workflow.report.sections import Section, Table, with_notes
from workflow.studies import kinds

RULES = (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:main-odd-1}")


def odd_table() -> Table:
    """Everything that LaTeX would misread."""
    columns = {
        "Method": [text("a_b & c"), emphasised(text("50 % <x>"))],
        "x^2 ± {y}": [number(1, 0, error=2), text("−3 # $4")],
        "~": [text("\\"), MISSING],
    }
    notes = ("\\* a star; σ ≤ 1 … “so”",)
    section = Section("100 % of `code_x` ≈ 2 × 3", columns, notes)
    return Table(pd.DataFrame(), (section,))


def benchmark_tables() -> list[Table]:
    benchmark = kinds()["benchmark"]
    return [benchmark.table(name, benchmark_study(), SCORING) for name in benchmark.tables]


def test_markdown_keeps_cells_on_one_line() -> None:
    section = Section("t", {"Method": [text("a|b\n# c")], "x": [number(1, 0)]}, ("a\n# heading",))
    assert r"a\|b # c" in markdown_table(section)
    assert "a # heading" in markdown(Table(pd.DataFrame(), (section,)), "toy")


def test_markdown_has_preset_titles_and_bold() -> None:
    lines = markdown(odd_table(), "toy")
    assert lines.startswith("Configuration: toy\n")
    assert "### 100 % of `code_x`" in lines
    assert "**50 % <x>**" in lines


def test_latex_escapes_special_characters() -> None:
    lines = latex(odd_table(), "main-odd", "toy")
    assert r"\caption{100 \% of \texttt{code\_x} $\approx$ 2 $\times$ 3}" in lines
    assert r"a\_b \& c & 1 $\pm$ 2 & \textbackslash{} \\" in lines
    assert r"\textbf{50 \% $<$x$>$} & $-$3 \# \$4 & -- \\" in lines
    assert r"* a star; $\sigma$ $\leq$ 1 \dots{} ``so''" in lines
    assert [rule for rule in RULES if rule not in lines] == []


def test_latex_aligns_numbers_to_the_right() -> None:
    columns = {"a": [text("x"), text("y")], "b": [number(1, 0), MISSING]}
    lines = latex(Table(pd.DataFrame(), (Section("t", columns),)), "t", "toy")
    assert r"\begin{tabular}{lr}" in lines


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path) -> None:
    tables = [odd_table(), *benchmark_tables()]
    body = "\n".join(latex(table, f"t{number}", "toy") for number, table in enumerate(tables))
    packages = "\\usepackage{booktabs}\\usepackage{graphicx}"
    document = f"\\documentclass{{article}}{packages}\\begin{{document}}\n{body}\\end{{document}}\n"
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


def test_html_escapes_cells_and_titles() -> None:
    columns = {"<b>": [text("<script>"), emphasised(text("<i>"))]}
    table = html_table(Section("<t>", columns))
    assert "<th scope='col'>&lt;b&gt;</th>" in table
    assert "<th scope='row'>&lt;script&gt;</th>" in table
    assert "<th scope='row'><strong>&lt;i&gt;</strong></th>" in table
    assert "aria-label='&lt;t&gt;'" in table


def test_html_columns_of_numbers_sort_by_value() -> None:
    columns = {
        "Method": [text("NPT"), text("1-NN"), text("k-NN")],
        "Time": [emphasised(seconds(61.2)), MISSING, seconds(0.004)],
    }
    table = html_table(Section("Times", columns))
    assert (
        "<th scope='col' class='number' data-unit='s'><button type='button'>Time</button></th>"
        in table
    )
    assert "<td class='number' data-key='61.2'><strong>1 min 1 s</strong></td>" in table
    assert "<td class='number' data-key=''>–</td>" in table
    assert "data-key='0.004'>4 ms" in table
    assert "<th scope='col'><button type='button'>Method</button></th>" in table


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
    assert list(Section("t", columns).without_empty("a", "b").columns) == ["a", "c"]
