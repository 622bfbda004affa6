"""Collect the rows of a study into one table; missing, double and mixed rows are errors."""

from __future__ import annotations

from workflow.planning import paths
from workflow.results.collection import collect
from workflow.results.study_file import write_study
from workflow.runtime.command import execute, planned_study


def main() -> None:
    """Command line of the step."""
    plan, study = planned_study(__doc__)
    write_study(paths.collected(study.name), collect(study, plan), study.name)


if __name__ == "__main__":
    execute(main)
