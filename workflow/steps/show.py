"""Make the tables and figures of a study: CSV in full precision and Markdown, SVG and PNG."""

from __future__ import annotations

from pathlib import Path

from npt.files import replacing
from workflow.steps.command import add_choices, execute, parser
from workflow.studies import KINDS


def main() -> None:
    """Command line of the step."""
    from workflow.report.figures import FIGURES
    from workflow.report.summary import read_study
    from workflow.report.tables import TABLES

    options = parser(__doc__)
    options.add_argument("--study", type=Path, required=True, help="collected study (.csv), whose name the files take")
    options.add_argument("--kind", choices=KINDS, required=True)
    add_choices(options)
    options.add_argument("--tables", type=Path, required=True, help="folder for the tables")
    options.add_argument("--figures", type=Path, required=True, help="folder for the figures")
    given = options.parse_args()
    study, kind = read_study(given.study), KINDS[given.kind]
    for name in kind.tables:
        table, stem = TABLES[name](study, given.choices), f"{given.study.stem}.{name}"
        with replacing(given.tables / f"{stem}.csv") as partial:
            table.tidy.to_csv(partial, index=False)
        with replacing(given.tables / f"{stem}.md") as partial:
            partial.write_text(table.markdown(str(study["preset"].iloc[0])))
    for name in kind.figures:
        figure, stem = FIGURES[name](study, given.choices), f"{given.study.stem}.{name}"
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            with replacing(given.figures / f"{stem}.{ending}") as partial:
                figure.savefig(partial, format=ending, metadata=metadata)


if __name__ == "__main__":
    execute(main)
