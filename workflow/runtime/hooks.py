"""What happens around a run of Snakemake: before its rules, at its start, and at its end."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from npt.errors import UserError
from npt.provenance import ROOT
from workflow.config.reading import load, parse, read
from workflow.planning import kept, paths
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs
from workflow.runtime import step_server
from workflow.runtime.command import one_line_errors
from workflow.runtime.terminal import install, print_address

DEFAULT = Path("config.yaml")
_held: list[FileLock] = []


@one_line_errors()
def plan_jobs(config: dict[str, Any], snakemake: Any) -> Jobs:
    """Jobs of a configuration; an invalid one ends the program in one line.

    Without a file on the command line, that is `config.yaml` with the changes of the command line,
    which are put into `config`.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("PYTHONHASHSEED", "0")  # scikit-posthocs draws bars in the order of a set
    logging.raiseExceptions = False  # a full disk would bury the error under logging's tracebacks
    programs = Path(sys.executable).parent
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
    modules = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, modules))
    if not snakemake.is_main_process:
        return Jobs(kept.load())  # of a cluster's job, whatever was edited since the run began
    _read(config, snakemake)
    plan = Plan.from_config(read(config))
    _warn_without_records(plan)
    if "--no-hooks" in sys.argv and not snakemake.output_settings.dryrun:
        kept.keep(plan)
    return Jobs(plan)


def _read(config: dict[str, Any], snakemake: Any) -> None:
    """Put files and changes of the command line into `config`.

    Snakemake has read the files too, but takes the last of equal keys, and `5e-4` for text.
    """
    from snakemake.utils import update_config

    files = [Path(file) for file in snakemake.overwrite_configfiles]
    content = {} if files else dict(parse(DEFAULT))
    command_line = dict(snakemake.config_settings.config)
    for entry in snakemake.config_settings.config_args:
        name, _, text = entry.partition("=")
        if isinstance(command_line[name], list | Mapping):  # Snakemake has read all in it as text
            update_config(command_line, {name: load(text, name)})
    for changes in (config, *map(parse, files), command_line):
        update_config(content, changes)
    config |= content


def _warn_without_records(plan: Plan) -> None:
    """Say that changes are not noticed, as where `results` was copied without `.snakemake`."""
    records = Path(".snakemake")
    has_records = any(records.glob("metadata/*")) or (records / "metadata.db").exists()
    if has_records or not any(Path().glob(str(paths.prepared("*")))):
        return
    try:
        is_changed = kept.load() != plan
    except UserError:
        is_changed = True
    if is_changed:
        print(
            "warning: changes since the last run are not noticed without the records in .snakemake;"
            " copy them with results, or add --forcerun prepare",
            file=sys.stderr,
            flush=True,
        )


def claim(folder: Path) -> None:
    """Lock a folder until this process ends.

    Raises:
        UserError: Another run holds the folder.
    """
    lock = FileLock(folder / ".snakemake" / "npt.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(f"{folder}: another run uses this folder; wait or stop it") from None
    _held.append(lock)


@one_line_errors()
def started(jobs: Jobs, config: Mapping[str, Any], snakemake: Any) -> None:
    """Claim the folder, and keep the plan for the steps and the configuration for readers.

    Steps on this machine share the import of their libraries, and start at any rate. With a limit,
    Snakemake 9.27 looks for new jobs every second once for each job that has ended: after hundreds
    of jobs, that takes a core.
    """
    claim(Path.cwd())
    install(snakemake)
    kept.keep(jobs.plan)
    kept.keep_config(config)
    if snakemake.local_exec:
        step_server.offer(jobs.libraries)
        snakemake.scheduler.job_rate_limiter = None


def finished() -> None:
    """Print what the report says first, and its address."""
    log = paths.log("report", "report")
    if paths.REPORT.exists() and log.exists():
        print(f"\n{log.read_text(errors='replace')}", end="")
    print_address()


def failed(logs: Iterable[str]) -> None:
    """Print how to go on after jobs that failed."""
    files = ", ".join(logs)
    print(f"the run is not complete; run again to resume. Snakemake's log: {files}", flush=True)
