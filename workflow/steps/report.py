"""Write the report: all studies on one HTML page, and their tables as README.md beside the rows."""

from __future__ import annotations

from npt.atomic import write_text
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.report.page import render, results_line
from workflow.report.study import reported_studies
from workflow.report.summary import README, summary
from workflow.results.study_file import read_planned
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    parser(__doc__).parse_args()
    plan = load()
    studies = {name: read_planned(study, plan) for name, study in plan.studies.items()}
    prepared = [plan.prepared(name) for name in plan.datasets]
    results = paths.RESULTS
    reported = reported_studies(studies, plan.studies, plan.scoring)
    page = render(reported, plan.scoring, plan.preset, results, prepared, plan.note)
    write_text(paths.REPORT, page)
    write_text(results / "studies" / README, summary(reported, plan.preset, plan.note))
    for study in reported:
        if study.answer:
            print(f"{study.kind.title} {study.answer}")
    print(results_line(studies))


if __name__ == "__main__":
    execute(main)
