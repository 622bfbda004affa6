"""What happens around a run of Snakemake: before its rules, at its start, and at its end."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from npt.interface import UserError
from workflow.config.reading import parse, read, require_plain_numbers
from workflow.config.resolution import BATCH_ROWS
from workflow.planning import kept, paths, resources
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs
from workflow.planning.unused import notes_of_unused
from workflow.runtime import step_server
from workflow.runtime.folder_lock import claim
from workflow.runtime.step import FOLDER
from workflow.runtime.terminal import clock_time, install, outcomes_in, tell_address

BEGUN = time.monotonic()
NAMED = 3  # models in a note
LARGE = 5e15  # floating-point operations, a day of a CPU core
# Options with which Snakemake runs nothing, so that one can look at a folder in use.
LOOKING = {
    "--summary",
    "-S",
    "--detailed-summary",
    "-D",
    "--dag",
    "--rulegraph",
    "--filegraph",
    "--d3dag",
    "--report",
    "--lint",
    "--list-rules",
    "-l",
    "--list-target-rules",
    "--lt",
    "--list-changes",
    "--unlock",
}
INTERRUPTED = re.compile(
    r"Terminating processes on user request"
    r"|died with <Signals\.SIGINT"
    r"|returned non-zero exit status 130\b"
)


def plan_jobs(config: Mapping[str, Any], snakemake: Any) -> Jobs:
    """Jobs of a configuration; an invalid one, or a folder in use, ends the program in one line."""
    _set_up_environment()
    try:
        if snakemake.is_main_process:
            _refuse_duplicate_keys(snakemake.configfiles)
            for argument in sys.argv:
                require_plain_numbers(argument)
            plan = Plan.of(read(config))
        else:
            plan = kept.load()  # a job of a cluster, whatever was edited since the run began
        if snakemake.is_main_process and not _only_looks():
            _begin(plan, snakemake)
            install(plan, snakemake)
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    return Jobs(plan)


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
        step_server.offer()
        snakemake.scheduler.job_rate_limiter = None


def finished() -> None:
    """Tell the results, and remove the interim report that the complete one replaces."""
    report = Path(paths.REPORT)
    if report.exists():
        _tell_results()
    interim = Path(paths.INTERIM, "report", "index.html")
    if not (report.exists() and interim.exists()):
        return
    if report.stat().st_mtime > interim.stat().st_mtime:
        shutil.rmtree(paths.INTERIM, ignore_errors=True)


def _tell_results() -> None:
    """What the report says first, the time, and the address of the page."""
    print()
    for line in outcomes_in(Path(paths.log("report", "report"))):
        print(line)
    print(f"time:   {clock_time(time.monotonic() - BEGUN)}")
    tell_address()


def failed(logs: Iterable[str]) -> None:
    """Write an interim report after failed jobs, but not after Ctrl-C."""
    logs = list(logs)
    for log in logs:
        if INTERRUPTED.search(Path(log).read_text(errors="replace")):
            return
    subprocess.run([sys.executable, "-m", "workflow.steps.interim"], check=False)
    for log in logs:
        print(f"Snakemake's log: {log}", flush=True)


def _only_looks() -> bool:
    options = {argument.partition("=")[0] for argument in sys.argv}
    return not LOOKING.isdisjoint(options)


def _set_up_environment() -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.pop(FOLDER, None)  # of a run on another machine, whose job this is
    logging.raiseExceptions = False  # a full disk would bury the error under logging's tracebacks
    programs = Path(sys.executable).parent
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"


def _refuse_duplicate_keys(configfiles: Iterable[str]) -> None:
    for file in configfiles:
        path = Path(file)
        if path.suffix != ".json":
            parse(path)


def _begin(plan: Plan, snakemake: Any) -> None:
    if not snakemake.output_settings.dryrun:
        claim(Path.cwd())
        if "--no-hooks" in sys.argv:
            kept.keep(plan)
    notes = [*_notes(plan), *_notes_of_memory(plan, _memory_limit(snakemake))]
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _notes_of_batches(plan: Plan) -> Iterator[str]:
    """Large custom tables on which NPT has the default minibatches."""
    for name, dataset in plan.custom_datasets.items():
        for run in plan.runs.values():
            if (run.dataset, run.method) != (name, "npt"):
                continue
            if dataset.rows > BATCH_ROWS == run.settings["batch_rows"]:
                yield f"{name}: about {dataset.rows:,} rows; NPT takes {BATCH_ROWS:,} at a time"
                break


def _memory_limit(snakemake: Any) -> float | None:
    """Snakemake's limit in megabytes, which the profile for one machine sets; None without one."""
    limit = snakemake.global_resources.get("mem_mb")
    return None if limit is None else limit.value


def _notes_of_memory(plan: Plan, megabytes: float | None) -> Iterator[str]:
    """Runs that are forecast to need more memory than there is."""
    if megabytes is None:
        return
    too_large: dict[str, float] = {}
    for run in plan.runs.values():
        needed = resources.run_memory(plan.dataset(run.dataset), run)
        if needed > megabytes:
            model = f"{run.method} on {run.dataset}"
            too_large[model] = max(needed, too_large.get(model, 0.0))
    if not too_large:
        return
    largest = sorted(too_large, key=lambda model: -too_large[model])
    models = [f"{model} {too_large[model]:,.0f} MB" for model in largest[:NAMED]]
    if len(largest) > NAMED:
        models.append(f"{len(largest) - NAMED} more")
    yield (
        f"more than the {megabytes:,} MB of memory here is forecast: {', '.join(models)} "
        "(each runs alone, and may be killed)"
    )


def _notes(plan: Plan) -> list[str]:
    notes: list[str] = []
    notes += notes_of_unused(plan)
    notes += _notes_of_batches(plan)
    flop = 0.0
    for run in plan.runs.values():
        flop += resources.run_flop(plan.dataset(run.dataset), run)
    if flop > LARGE and not shutil.which("nvidia-smi"):
        hours = flop / resources.CPU_RATE / 3600
        notes.append(
            f"trainings of {flop / 1e15:,.0f} PFLOP take about {hours:,.0f} CPU core hours and no "
            "GPU was found (python -m workflow.steps.estimate, docs/cluster.md)"
        )
    return notes
