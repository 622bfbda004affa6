"""What the Snakefile does before its rules: read the configuration, take the folder."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from baselines import methods
from npt.atomic import replacing
from npt.interface import UserError
from workflow.config.old_reading import parse, read
from workflow.planning import resources
from workflow.planning.old_plan import Plan
from workflow.planning.paths import CONFIG
from workflow.planning.revision import outdated
from workflow.runtime.folder_lock import claim

LARGE = 5e15  # floating-point operations: a day of a CPU core


def planned(config: Mapping[str, Any], snakemake: Any) -> Plan:
    """The plan of a configuration; a mistake in it, or a folder in use, ends the program with one line."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    logging.raiseExceptions = (
        False  # a log file on a full disk must not bury the error under its own tracebacks
    )
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        for path in map(Path, snakemake.configfiles):
            if path.suffix != ".json":
                parse(path)  # Snakemake does not mind a key that stands twice
        plan = Plan(read(config))
        if snakemake.is_main_process and not snakemake.output_settings.dryrun:
            claim(Path.cwd())
            if "--no-hooks" in sys.argv:
                keep(config)  # there will be no `onstart`
        if snakemake.is_main_process:
            _warn(plan)
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    return plan


def keep(config: Mapping[str, Any]) -> None:
    """Write down the configuration, `--config` and all, for the steps that need the whole of it.

    A disk that does not take it ends the program with one line.
    """
    import yaml

    content = yaml.safe_dump(json.loads(json.dumps(config, default=str)), sort_keys=False).encode()
    path = Path(CONFIG)
    try:
        if not path.exists() or path.read_bytes() != content:
            with replacing(path) as partial:
                partial.write_bytes(content)
    except OSError as error:
        sys.exit(f"error: {error.filename or path}: {error.strerror}")


def _warn(plan: Plan) -> None:
    """Say which results other code made, and what trainings would take that are out of a CPU's reach without a GPU here."""
    if folders := outdated(plan):
        print(
            f"note: made by another revision of the code, and kept: {', '.join(folders)} (remove these to make them anew)",
            file=sys.stderr,
        )
    flop = sum(
        resources.run_flop(plan.config, run)
        for run in plan.runs.values()
        if methods()[run.method].saves_weights
    )
    if flop > LARGE and not shutil.which("nvidia-smi"):
        hours = flop / resources.CPU_RATE / 3600
        print(
            f"note: the trainings of this plan are {flop / 1e15:,.0f} PFLOP, about {hours:,.0f} hours of a CPU core; they are "
            "for GPUs, of which this machine has none (python -m workflow.steps.estimate tells more; docs/cluster.md)",
            file=sys.stderr,
        )
