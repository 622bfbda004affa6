"""Plan and configuration of the last run; the steps read the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from npt.atomic import write_text
from npt.checksum import json_line, without_checksum
from npt.errors import UserError
from workflow.config.reading import as_yaml
from workflow.planning.paths import CONFIG, PLAN
from workflow.planning.plan import Plan


def keep(plan: Plan) -> None:
    """Write the plan of a run."""
    write_text(PLAN, json_line(plan.model_dump(mode="json")))


def keep_config(config: Mapping[str, Any]) -> None:
    """Write a configuration as Snakemake merged it from files and command line."""
    plain = json.loads(json.dumps(config, default=str))
    write_text(CONFIG, as_yaml(plain))


def load() -> Plan:
    """Read the plan of the last run.

    Raises:
        UserError: There is none, or it is damaged, or of another version of the code.
    """
    try:
        text = PLAN.read_text(encoding="utf-8")
        return Plan.model_validate_json(without_checksum(text))
    except FileNotFoundError:
        raise UserError(f"{PLAN}: missing; start a run with snakemake first") from None
    except ValueError:
        raise UserError(
            f"{PLAN}: damaged, or of another version of the code; start a run again"
        ) from None
