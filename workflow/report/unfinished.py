"""Tables, figures and report of an unfinished run, as a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from npt.data.store import Prepared
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.report.files import write_figures, write_tables
from workflow.report.page import answers, render
from workflow.results.collection import Collected
from workflow.results.missing import last_error
from workflow.results.study_file import read_study, write_study
from workflow.studies import kinds


def write_interim(
    plan: Plan,
    collected: Mapping[str, Collected],
    prepared: list[Prepared],
    folder: Path,
) -> None:
    """Write everything that there is of the studies.

    Args:
        collected: Rows by study, unfinished ones included.
        folder: Gets the subfolders `studies`, `tables`, `figures` and `report`.
    """
    studies = {}
    begun = {}
    kind_names = {name: study.kind for name, study in plan.studies.items()}
    for name, rows in collected.items():
        path = folder / "studies" / f"{name}.csv"
        write_study(path, rows.rows, name)
        study = read_study(path)
        studies[name] = study
        if rows.begun:
            begun[name] = study
            kind = kinds()[kind_names[name]]
            write_tables(name, kind, study, plan.scoring, plan.preset, folder / "tables")
            write_figures(name, kind, study, plan.scoring, folder / "figures")
    page = render(
        studies,
        kind_names,
        plan.scoring,
        plan.preset,
        folder,
        prepared,
        remarks(plan, collected),
        list(plan.runs.values()),
        plan.note,
        answers(begun, kind_names, plan.scoring),
    )
    report = folder / "report" / "index.html"
    report.parent.mkdir(parents=True)
    report.write_text(page, encoding="utf-8")


def remarks(plan: Plan, collected: Mapping[str, Collected]) -> list[str]:
    """Errors that concern a study as a whole, with its name."""
    messages: dict[str, None] = {}  # an ordered set
    for name, rows in collected.items():
        errors = [
            *rows.problems,
            _error_of_job("collect", name, [paths.collected(name)]),
            _error_of_job("show", name, _shown(name, plan.studies[name].kind)),
        ]
        for error in errors:
            if error:
                messages[f"{name}: {error}"] = None
    return list(messages)


def _shown(study: str, kind_name: str) -> list[str]:
    """One file of every table and figure of a study."""
    kind = kinds()[kind_name]
    table_format = paths.TABLE_FORMATS[0]
    figure_format = paths.FIGURE_FORMATS[0]
    return [
        *(paths.table(study, table, table_format) for table in kind.tables),
        *(paths.figure(study, figure, figure_format) for figure in kind.figures),
    ]


def _error_of_job(job: str, study: str, files: list[str]) -> str:
    """The error of a job; empty if it made its files."""
    if all(Path(file).exists() for file in files):
        return ""
    return last_error(paths.log(job, study))
