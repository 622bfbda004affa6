"""Runs a step of the workflow, or `plan`, and prints its processor seconds and peak memory.

It imports little, so that the peak is that of the step.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path

from npt.evaluation import peak_memory_mb
from workflow.config.reading import read
from workflow.planning.plan import Plan

CONFIG = "config.json"


def main() -> None:
    """`python -m performance.own_process MODULE ARGUMENTS`."""
    sys.argv = sys.argv[1:]
    module = sys.argv[0]
    try:
        if module == "plan":
            Plan.of(read(json.loads(Path(CONFIG).read_text())))
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        print(json.dumps({"seconds": time.process_time(), "peak_mb": peak_memory_mb()}))


if __name__ == "__main__":
    main()
