"""Seconds and memory of planning, collecting and showing many results.

Two baselines are fitted once on ten folds of a generated table. Their files are copied for every
other seed, so that a file has ten rows, as those of real baselines. Every step has a process of its
own. Its seconds are those of the processor.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.provenance import ROOT
from performance.machine import parser, start, write
from performance.own_process import CONFIG
from workflow.config.reading import read
from workflow.planning import kept, paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run

FOLDS = 10
METHODS = ["constant", "linear"]
STEPS = {
    "plan": ["plan"],
    "collect": ["workflow.steps.collect", "--study", "main"],
    "tables and figures": ["workflow.steps.show", "--study", "main"],
    "report": ["workflow.steps.report"],
}
FIRST_SEED = "/seed_0/"


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--results", type=int, nargs="+", default=[10_000, 100_000])
    arguments = options.parse_args()
    start(arguments)
    rows = []
    for results in arguments.results:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            files = make(results)
            for step, command in STEPS.items():
                row = {"results": results, "files": files, "step": step} | _measured(command)
                print(json.dumps(row), flush=True)
                rows.append(row)
    write(arguments, "many_results", rows)


def make(results: int) -> int:
    """Results in the current folder; returns the number of files of rows."""
    draws = np.random.default_rng(0)
    table = pd.DataFrame(draws.normal(size=(300, 6)), columns=[*"abcde", "y"])
    table.to_csv("table.csv", index=False)
    for stem in _keep_plan(seeds=1).runs:
        _measured(["workflow.steps.prepare", "--dataset", "generated"])
        _measured(["workflow.steps.run", "--run", stem])
    plan = _keep_plan(seeds=results // (FOLDS * len(METHODS)))
    for run in plan.runs.values():
        if run.seed:
            _copy(run)
    return len(plan.runs)


def _keep_plan(seeds: int) -> Plan:
    """The plan of a configuration with that many seeds, kept for the steps."""
    config = {
        "folds": f"0-{FOLDS - 1}",
        "seeds": f"0-{seeds - 1}",
        "custom_datasets": {
            "generated": {"path": "table.csv", "target": "y", "task": "regression"},
        },
        "datasets": ["generated"],
        "methods": METHODS,
        "studies": {"main": {}},
    }
    Path(CONFIG).write_text(json.dumps(config))
    Path(paths.RESULTS).mkdir(exist_ok=True)
    plan = Plan.of(read(config))
    kept.keep(plan)
    kept.keep_config(config)
    return plan


def _copy(run: Run) -> None:
    """The files of the first seed, as those of a run with another seed."""
    stem = run.stem.replace(f"/seed_{run.seed}/", FIRST_SEED)
    target = Path(paths.run_rows(run.stem))
    target.parent.mkdir(parents=True)
    lines = []
    for line in Path(paths.run_rows(stem)).read_text().splitlines():
        row = json.loads(line) | {"seed": run.seed, "fingerprint": run.fingerprint}
        lines.append(f"{json.dumps(row)}\n")
    target.write_text("".join(lines))
    shutil.copy(paths.run_predictions(stem), paths.run_predictions(run.stem))


def _measured(step: list[str]) -> dict[str, Any]:
    """Processor seconds and peak memory of a step."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "performance.own_process", *step]
    output = subprocess.check_output(command, text=True, env=environment)
    return json.loads(output.splitlines()[-1])


if __name__ == "__main__":
    main()
