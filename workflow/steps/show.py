"""Write the tables and the figures of a study."""

from __future__ import annotations

from pathlib import Path

from workflow.planning import paths
from workflow.planning.kept import load
from workflow.report.files import write_figures, write_tables
from workflow.results.study_file import read_planned
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--study", required=True, help="a study of the plan")
    arguments = options.parse_args()
    plan = load()
    study = plan.study(arguments.study)
    rows = read_planned(study, plan)
    for folder in (paths.tables(study.name), paths.figures(study.name)):
        Path(folder).mkdir(parents=True, exist_ok=True)  # some kinds have no figures
    write_tables(study.name, study.declaration, rows, plan.scoring, Path(paths.TABLES))
    write_figures(study.name, study.declaration, rows, plan.scoring, Path(paths.FIGURES))


if __name__ == "__main__":
    execute(main)
