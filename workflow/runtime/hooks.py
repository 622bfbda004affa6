"""What happens around a run of Snakemake: before its rules, at its start, and at its end."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from npt.data.custom.file import file_at
from npt.data.source import sha256_of
from npt.errors import UserError
from workflow.config.reading import parse, read
from workflow.planning import kept, paths
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs
from workflow.runtime import step_server
from workflow.runtime.folder_lock import claim

DEFAULT = Path("config.yaml")
# Options with which Snakemake runs nothing, so that one can look at a folder in use.
LOOKING = {
    *("--summary", "-S", "--detailed-summary", "-D", "--list-changes", "--report", "--lint"),
    *("--dag", "--rulegraph", "--filegraph", "--d3dag", "--list-rules", "-l"),
    *("--list-target-rules", "--lt", "--unlock"),
}


def plan_jobs(config: dict[str, Any], snakemake: Any) -> Jobs:
    """Jobs of a configuration; an invalid one, or a folder in use, ends the program in one line.

    Without a file on the command line, that is `config.yaml` with the changes of the command line,
    which are put into `config`.
    """
    _set_up_environment()
    try:
        if snakemake.is_main_process:
            _read(config, snakemake)
            plan = Plan.of(read(config))
        else:
            plan = kept.load()  # a job of a cluster, whatever was edited since the run began
        only_looks = any(argument.partition("=")[0] in LOOKING for argument in sys.argv)
        if snakemake.is_main_process and not only_looks:
            _begin(plan, snakemake)
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    return Jobs(plan)


def _read(config: dict[str, Any], snakemake: Any) -> None:
    """Put files and changes of the command line into `config`.

    Snakemake has read the files too, but takes the last of equal keys, and `5e-4` for text.
    """
    from snakemake.utils import update_config

    files = [Path(file) for file in snakemake.overwrite_configfiles]
    content = {} if files else dict(parse(DEFAULT))
    for changes in (config, *map(parse, files), snakemake.config_settings.config):
        update_config(content, changes)
    config |= content


def started(jobs: Jobs, config: Mapping[str, Any], snakemake: Any) -> None:
    """Keep the plan for the steps, and the configuration for readers.

    Steps on this machine share the import of their libraries, and start at any rate. With a limit,
    Snakemake 9.27 looks for new jobs every second once for each job that has ended: after hundreds
    of jobs, that takes a core.
    """
    try:
        kept.keep(jobs.plan)
        kept.keep_config(config)
    except OSError as error:
        sys.exit(f"error: {error.filename or paths.PLAN}: {error.strerror}")
    if snakemake.local_exec:
        step_server.offer(jobs.libraries)
        snakemake.scheduler.job_rate_limiter = None


def finished() -> None:
    """Print what the report says first, and its address."""
    log = Path(paths.log("report", "report"))
    report = Path(paths.REPORT)
    if report.exists() and log.exists():
        print(f"\n{log.read_text(errors='replace')}report: {report.resolve().as_uri()}", flush=True)


def failed(logs: Iterable[str]) -> None:
    """Print how to go on after jobs that failed."""
    files = ", ".join(logs)
    print(f"the run is not complete; run again to resume. Snakemake's log: {files}", flush=True)


def _set_up_environment() -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("PYTHONHASHSEED", "0")  # scikit-posthocs draws bars in the order of a set
    logging.raiseExceptions = False  # a full disk would bury the error under logging's tracebacks
    programs = Path(sys.executable).parent
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"


def _begin(plan: Plan, snakemake: Any) -> None:
    if not snakemake.output_settings.dryrun:
        claim(Path.cwd())
        if "--no-hooks" in sys.argv:
            kept.keep(plan)
    for note in _notes_of_equal_files(plan):
        print(f"note: {note}", file=sys.stderr)


def _notes_of_equal_files(plan: Plan) -> Iterator[str]:
    """Custom datasets that predict the same column of the same file."""
    names: dict[tuple[str, Any], str] = {}
    for name, dataset in plan.custom_datasets.items():
        file = file_at(dataset.path)
        content = sha256_of(file) if file else dataset.location
        other = names.setdefault((content, dataset.target), name)
        if other != name:
            yield f"{other} and {name}: same file and target; both count in ranks and means"
