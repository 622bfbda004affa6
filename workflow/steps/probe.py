"""Probe the trained models of a run: a row and arrays for each fold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from npt.interface import Resources, UserError, unknown
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.results.job import Job
from workflow.results.predictions import write_predictions
from workflow.results.row import Row
from workflow.results.row_file import write_rows
from workflow.runtime import gpu_lock
from workflow.runtime.command import execute, limit_threads, parser
from workflow.steps.arguments import planned_study
from workflow.studies.probing import Probe


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--study", required=True, help="a study of the plan that probes runs")
    options.add_argument("--run", required=True, help="stem of a run of the plan")
    options.add_argument("--threads", type=int, default=1, help="threads (default: %(default)s)")
    options.add_argument("--device", default="auto", help="auto, cpu or a torch device")
    arguments = options.parse_args()
    limit_threads(arguments.threads)
    plan = load()
    study = planned_study(plan, arguments.study)
    probed = [run.stem for run in plan.probed_runs_of(study)]
    if not probed:
        raise UserError(f"--study: {study.name} probes no runs")
    job = Job.of(plan, arguments.run)
    if job.run.stem not in probed:
        raise UserError(f"--run: {unknown(job.run.stem, probed)}")
    device = arguments.device
    if job.method.saves_weights:
        device = gpu_lock.device(device)
    probe = Probe.of(study, job, Resources(arguments.threads, device))
    rows: list[Row] = []
    arrays: dict[str, np.ndarray] = {}
    for fold in job.run.folds:
        row, fold_arrays = probe.fold(fold)
        rows.append(row)
        arrays |= fold_arrays
        print(f"{row.run_key} seed {row.seed} fold {fold}: {row.status} {row.reason}", flush=True)
    write_predictions(Path(paths.probe_predictions(study.name, job.run.stem)), arrays)
    write_rows(Path(paths.probe_rows(study.name, job.run.stem)), rows)


if __name__ == "__main__":
    execute(main)
