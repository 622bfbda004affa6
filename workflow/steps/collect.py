"""Gather the run or probe files of a study into one tidy table, refusing holes, duplicates and mixtures.

What a study is made of is planned anew from the configuration. By hand, results of other machines can be taken in:

    python -m workflow.steps.collect --study main --also ../their/results
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from npt.interface import UserError, unknown
from workflow.config.old_reading import read_file
from workflow.config.old_study import Study
from workflow.planning.old_plan import Plan
from workflow.planning.paths import RESULTS
from workflow.results.collection import check, read_rows, select, write
from workflow.results.external import foreign, require_sound, with_source
from workflow.runtime.command import execute, parser
from workflow.studies.kinds import KINDS


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--study", required=True)
    options.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="DIR",
        help="results of another machine (repeatable)",
    )
    options.add_argument(
        "--allow-mixed-revisions",
        action="store_true",
        help="take rows of different revisions of the code",
    )
    options.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    options.add_argument(
        "--contents", help="in the workflow: a hash of what the study is to be made of"
    )
    options.add_argument(
        "--output", type=Path, help="where the table goes (default: results/studies/STUDY.csv)"
    )
    given = options.parse_args()
    plan, study = _planned(given)
    wildcards, expected = argparse.Namespace(study=study.name), plan.expected(study)
    if given.contents not in (None, plan.contents(wildcards)):
        raise UserError(
            f"{study.name}: {given.configfile}, or a folder of `also`, is not what it was when this run was planned; run again"
        )
    files = [
        path for path in map(Path, plan.collect_inputs(wildcards)) if path.exists()
    ]  # what lacks is refused as a hole
    rows = with_source(read_rows(files), study.also)
    require_sound(rows, map(Path, plan.collect_data(wildcards)))
    mixed = given.allow_mixed_revisions
    chosen = check(rows, expected, mixed=mixed) + foreign(rows, expected, mixed=mixed)
    write(
        select(chosen, expected),
        study.name,
        given.output or Path(RESULTS) / "studies" / f"{study.name}.csv",
    )


def _planned(given: argparse.Namespace) -> tuple[Plan, Study]:
    """The study that is asked for, with other machines' folders of the command line, and the plan of all studies."""
    config = read_file(given.configfile)
    known = {study.name: study for study in config.studies}
    if given.study not in known:
        raise UserError(f"{given.configfile}: study {unknown(given.study, known)}")
    if given.also and KINDS[known[given.study].kind].probe:
        raise UserError(f"--also: is for studies that show runs; {given.study} asks trained models")
    study = replace(known[given.study], also=(*known[given.study].also, *given.also))
    return Plan(
        replace(
            config,
            studies=tuple(study if one.name == study.name else one for one in config.studies),
        )
    ), study


if __name__ == "__main__":
    execute(main)
