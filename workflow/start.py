"""What the Snakefile does before its rules: read the configuration, take the folder."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npt.interface import UserError
from workflow.config import read
from workflow.lock import claim
from workflow.plan import Plan


def planned(config: Mapping[str, Any], snakemake: Any) -> Plan:
    """The plan of a configuration; a mistake in it, or a folder in use, ends the program with one line."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    logging.raiseExceptions = False  # a log file on a full disk must not bury the error under its own tracebacks
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        plan = Plan(read(config))
        if snakemake.is_main_process and not snakemake.output_settings.dryrun:
            claim(Path.cwd())
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    return plan
