"""Write the tables and the figures of a study."""

from __future__ import annotations

from workflow.planning import paths
from workflow.report.files import write_figures, write_tables
from workflow.results.study_file import read_planned
from workflow.runtime.command import execute, planned_study


def main() -> None:
    """Command line of the step."""
    plan, study = planned_study(__doc__)
    rows = read_planned(study, plan)
    view = study.declaration.view
    write_tables(paths.tables(study.name), view, rows, plan.scoring)
    write_figures(paths.figures(study.name), view, rows, plan.scoring)


if __name__ == "__main__":
    execute(main)
