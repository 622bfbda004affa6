"""Arguments that several steps share."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from npt.errors import UserError, unknown
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy


def add_configfile(options: ArgumentParser) -> None:
    """The option of the steps that read a configuration before a run keeps its plan."""
    options.add_argument(
        "--configfile",
        type=Path,
        default=Path("config.yaml"),
        help="configuration (default: %(default)s)",
    )


def planned_study(plan: Plan, name: str) -> PlannedStudy:
    """The study of `--study`.

    Raises:
        UserError: the plan has no such study.
    """
    if name not in plan.studies:
        raise UserError(f"--study: {unknown(name, plan.studies)}")
    return plan.studies[name]
