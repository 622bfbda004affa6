"""Make the tables of a study (CSV in full precision, Markdown, LaTeX, HTML) and its figures (SVG, PDF, PNG)."""

from __future__ import annotations

from pathlib import Path

from npt.atomic import replacing
from workflow.config.scoring import Scoring
from workflow.runtime.command import add_scoring, execute, parser
from workflow.studies.kinds import FIGURE_ENDINGS, KINDS, TABLE_ENDINGS, Kind


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument(
        "--study",
        type=Path,
        required=True,
        help="collected study (.csv), whose name the files take",
    )
    options.add_argument("--kind", choices=KINDS, required=True)
    add_scoring(options)
    options.add_argument("--tables", type=Path, required=True, help="folder for the tables")
    options.add_argument("--figures", type=Path, required=True, help="folder for the figures")
    given = options.parse_args()
    show(given.study, given.kind, given.scoring, given.tables, given.figures)


def show(collected: Path, of_kind: Kind, scoring: Scoring, tables: Path, figures: Path) -> None:
    """Write the tables and figures of a collected study into two folders."""
    from matplotlib.pyplot import close

    from workflow.report.drawing import UNDATED
    from workflow.report.figures import FIGURES
    from workflow.report.old_html import html
    from workflow.report.old_latex import latex
    from workflow.report.tables import TABLES
    from workflow.results.study_file import read_study

    study, kind = read_study(collected), KINDS[of_kind]
    preset = str(study["preset"].iloc[0])
    for name in kind.tables:
        table, stem = TABLES[name](study, scoring), f"{collected.stem}.{name}"
        contents = {
            "csv": table.tidy.to_csv(index=False),
            "md": table.markdown(preset),
            "tex": latex(table, stem.replace("_", "-").replace(".", "-"), preset),
            "html": html(
                table, f"{kind.title} Study {collected.stem}, {name.replace('_', ' ')}", preset
            ),
        }
        for ending in TABLE_ENDINGS:
            with replacing(tables / f"{stem}.{ending}") as partial:
                partial.write_text(contents[ending])
    for name in kind.figures:
        figure, stem = FIGURES[name](study, scoring), f"{collected.stem}.{name}"
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once for all formats
        for ending in FIGURE_ENDINGS:
            with replacing(figures / f"{stem}.{ending}") as partial:
                figure.savefig(partial, format=ending, metadata=UNDATED[ending])
        close(figure)


if __name__ == "__main__":
    execute(main)
