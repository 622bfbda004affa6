"""Tables as Markdown, LaTeX and HTML."""

from workflow.presentation.cells import MISSING, Cell, emphasised, number, text
from workflow.presentation.sections import Section, with_notes
from workflow.report.formats import html_note, html_table, latex_table, markdown_table


def test_markdown_keeps_cells_on_one_line() -> None:
    section = Section("t", {"Method": [text("a|b\n# c")], "x": [emphasised(number(1, 0))]})
    lines = markdown_table(section)
    assert r"a\|b # c" in lines
    assert "**1**" in lines


def test_latex_escapes_special_characters() -> None:
    columns = {
        "Method": [text("a_b & c"), emphasised(text("50 % <x>"))],
        "x^2 ± {y}": [number(1, 0, error=2), text("−3 # $4")],
        "~": [text("\\"), MISSING],
    }
    lines = latex_table(Section("100 % of `code_x` ≤ 2 × 3", columns), "tab:odd")
    assert r"\caption{100 \% of code\_x $\leq$ 2 $\times$ 3}" in lines
    assert r"a\_b \& c & 1 $\pm$ 2 & \textbackslash{} \\" in lines
    assert r"\textbf{50 \% $<$x$>$} & $-$3 \# \$4 & -- \\" in lines
    assert r"\label{tab:odd}" in lines


def test_html_escapes_cells_and_titles() -> None:
    columns = {"<b>": [text("<script>"), emphasised(text("<i>" + 60 * "x"))]}
    table = html_table(Section("<t>", columns))
    assert "<th>&lt;b&gt;</th>" in table
    assert "<td>&lt;script&gt;</td>" in table
    assert f"<td><strong>&lt;i&gt;{60 * 'x'}</strong></td>" in table
    note = html_note("`Lost` is <b>; \\* a star")
    assert note == "<code>Lost</code> is &lt;b&gt;; * a star"


def test_notes_of_all_sections_come_before_those_of_the_last() -> None:
    sections = [Section("a", {}), Section("b", {}, ("own",))]
    first, last = with_notes(sections, "all")
    assert first.notes == ()
    assert last.notes == ("all", "own")
    assert with_notes([], "all") == ()


def test_notes_of_all_sections_do_not_go_with_a_long_one() -> None:
    short, long = (Section(str(rows), {"a": [text("x")] * rows}) for rows in (3, 500))
    first, last = with_notes([short, long], "all")
    assert (first.notes, last.notes) == (("all",), ())


def test_optional_columns_without_values_are_left_out() -> None:
    columns = {"a": [Cell("x")], "b": [MISSING], "c": [MISSING]}
    section = Section("t", columns, ("`b` is explained.", "All.")).without_empty("a", "b")
    assert list(section.columns) == ["a", "c"]
    assert section.notes == ("All.",)
