"""The plan of the last run, which the steps read."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from npt.atomic import replacing
from npt.interface import UserError
from workflow.planning.paths import PLAN
from workflow.planning.plan import Plan


def keep(plan: Plan, path: Path | str = PLAN) -> None:
    """Write a plan, unless the file holds it already."""
    path = Path(path)
    content = plan.model_dump_json().encode()
    if path.exists() and path.read_bytes() == content:
        return
    with replacing(path) as partial:
        partial.write_bytes(content)


def load(path: Path | str = PLAN) -> Plan:
    """Read a plan.

    Raises:
        UserError: There is none, or it is of another version of the code.
    """
    path = Path(path)
    if not path.exists():
        raise UserError(f"{path}: missing; start a run with snakemake first")
    try:
        return Plan.model_validate_json(path.read_bytes())
    except ValidationError:
        raise UserError(f"{path}: of another version of the code; start a run again") from None
