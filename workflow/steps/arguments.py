"""Arguments that several steps share."""

from __future__ import annotations

from npt.interface import UserError, unknown
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy


def planned_study(plan: Plan, name: str) -> PlannedStudy:
    """The study of `--study`.

    Raises:
        UserError: the plan has no such study.
    """
    if name not in plan.studies:
        raise UserError(f"--study: {unknown(name, plan.studies)}")
    return plan.studies[name]
