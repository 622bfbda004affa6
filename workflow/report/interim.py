"""Tables, figures and report of an unfinished run, as a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from npt.data.store import Prepared
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.report.files import write_figures, write_tables
from workflow.report.page import render
from workflow.results.collect import Collected
from workflow.results.missing import last_error
from workflow.results.study_file import read_study, write_study
from workflow.studies import kinds


def write_interim(
    plan: Plan, collected: Mapping[str, Collected], prepared: list[Prepared], folder: Path
) -> None:
    """Write everything that there is of the studies.

    Args:
        collected: Rows by study, unfinished ones included.
        folder: Gets the subfolders `studies`, `tables`, `figures` and `report`.
    """
    studies = {}
    kind_names = {name: study.kind for name, study in plan.studies.items()}
    for name, rows in collected.items():
        path = folder / "studies" / f"{name}.csv"
        write_study(path, rows.rows, name)
        studies[name] = read_study(path)
        if rows.begun:
            kind = kinds()[kind_names[name]]
            write_tables(
                name,
                kind,
                studies[name],
                plan.scoring,
                folder / "tables",
            )
            write_figures(
                name,
                kind,
                studies[name],
                plan.scoring,
                folder / "figures",
            )
    messages = remarks(plan, collected)
    page = render(
        studies,
        kind_names,
        plan.scoring,
        plan.preset,
        folder,
        prepared,
        messages,
    )
    report = folder / "report" / "index.html"
    report.parent.mkdir(parents=True)
    report.write_text(page, encoding="utf-8")


def remarks(plan: Plan, collected: Mapping[str, Collected]) -> list[str]:
    """Errors that concern a study as a whole, with its name."""
    messages = []
    for name, rows in collected.items():
        kind = kinds()[plan.studies[name].kind]
        shown = [paths.table(name, table, paths.TABLE_FORMATS[0]) for table in kind.tables]
        shown += [paths.figure(name, figure, paths.FIGURE_FORMATS[0]) for figure in kind.figures]
        study_messages = [*rows.problems, *rows.mixtures]
        for job, files in {"collect": [paths.collected(name)], "show": shown}.items():
            error = last_error(paths.log(job, name))
            if error and not all(Path(file).exists() for file in files):
                study_messages.append(error)
        messages += [f"{name}: {message}" for message in dict.fromkeys(study_messages)]
    return messages
