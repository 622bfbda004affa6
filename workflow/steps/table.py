"""Make one table of a study: CSV in full precision, and Markdown."""

from __future__ import annotations

from pathlib import Path

from npt.files import replacing
from workflow.steps.command import execute, study_parser


def main() -> None:
    """Command line of the step."""
    from workflow.report.summary import read_study
    from workflow.report.tables import TABLES

    options = study_parser(__doc__)
    options.add_argument("--table", choices=TABLES, required=True)
    options.add_argument("--csv", type=Path, required=True)
    options.add_argument("--markdown", type=Path, required=True)
    given = options.parse_args()
    study = read_study(given.study)
    table = TABLES[given.table](study, given.metrics)
    with replacing(given.csv) as partial:
        table.tidy.to_csv(partial, index=False)
    with replacing(given.markdown) as partial:
        partial.write_text(table.markdown(str(study["preset"].iloc[0])))


if __name__ == "__main__":
    execute(main)
