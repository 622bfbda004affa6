"""Probe the trained models of a run for all studies: a row and arrays for each fold and study."""

from __future__ import annotations

import numpy as np

from npt.errors import UserError
from npt.interface import Resources
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.results.job import Job
from workflow.results.predictions import write_predictions
from workflow.results.row import Row, write_rows
from workflow.runtime import gpu_lock
from workflow.runtime.command import execute, limit_threads, lock_of, run_parser
from workflow.studies.probing import fitted_rows, probe_fold


def main() -> None:
    """Command line of the step."""
    arguments = run_parser(__doc__).parse_args()
    limit_threads(arguments.threads)
    plan = load()
    job = Job.from_plan(plan, arguments.run)
    stem = job.run.stem
    studies = plan.probes_of(job.run)
    if not studies:
        raise UserError(f"--run: no study probes {stem}")
    with lock_of(stem):
        device = gpu_lock.device(arguments.device, job.method)
        resources = Resources(arguments.threads, device)
        rows: dict[str, list[Row]] = {study.name: [] for study in studies}
        arrays: dict[str, dict[str, np.ndarray]] = {study.name: {} for study in studies}
        for fitted in fitted_rows(job):
            for study, row, fold_arrays in probe_fold(job, fitted, studies, resources):
                rows[study.name].append(row)
                arrays[study.name] |= fold_arrays
                key = f"{study.name}: {row.run_key} seed {row.seed} fold {row.fold}"
                print(f"{key}: {row.status} {row.reason}", flush=True)
        for name in rows:
            write_predictions(paths.probe_predictions(name, stem), arrays[name])
            write_rows(paths.probe_rows(name, stem), rows[name])


if __name__ == "__main__":
    execute(main)
