"""What a run prints: a line for each finished job. Snakemake's own messages are in its log."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.report.titles import (
    EXACT,
    Training,
    dataset_title,
    method_title,
    updates_in_titles,
)
from workflow.runtime.command import OUTCOME

TAIL = 16_384  # bytes of a log that are searched for outcomes
TARGET = "all"  # the rule that makes nothing
# Snakemake's events by name that say nothing to a reader, and starts of messages without an event.
SILENT_EVENTS = {
    "job_info",
    "job_started",
    "job_finished",
    "progress",
    "run_info",
    "shellcmd",
    "resources_info",
    "workflow_started",
}
SILENT_MESSAGES = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Complete log(s)",
    "Elapsed time",
    "Execute ",
    "Job stats",
    "Select jobs to execute",
    "Singularity containers: ignored",
    "Using shell",
)
NOTHING_TO_DO = "Nothing to be done"
PROBING = ("probe", "probe_baseline")
PRIOR_SHARE = 0.5  # of the forecast, which counts as done in it when the speed is measured
SHORT = 90  # seconds, below which a time left has no number


class Terminal(logging.Handler):
    """Prints a line for each finished job, and passes on errors and what it does not know.

    Args:
        inner: Snakemake's handler, in whose place this one stands.
        job_seconds: Forecast seconds of a job on one core, by rule.
        cores: Of the run.
        trainings: Of exact NPTs, for their titles.
    """

    def __init__(
        self,
        inner: logging.Handler,
        job_seconds: Mapping[str, float],
        cores: int = 1,
        trainings: Sequence[Training] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._inner = inner
        self._job_seconds = job_seconds
        self._cores = cores
        self._trainings = trainings
        self._clock = clock
        self._begun = clock()
        self._jobs: dict[int, Any] = {}
        self._just_finished: list[int] = []
        self._left: Counter[str] = Counter()
        self._work_done = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record says to a reader."""
        event = str(getattr(record, "event", None) or "")
        of_event = {
            "run_info": self._plan,
            "job_info": self._start,
            "job_finished": self._finish,
            "progress": self._progress,
        }
        if event in of_event:
            of_event[event](record)
        elif event not in SILENT_EVENTS and not _is_chatter(record, event):
            self._inner.handle(record)
            if record.getMessage().startswith(NOTHING_TO_DO):
                tell_address()

    def _plan(self, record: Any) -> None:
        counts = {rule: int(count) for rule, count in record.stats.items()}
        counts.pop("total", None)
        self._left = Counter(counts)

    def _start(self, record: Any) -> None:
        self._jobs[record.jobid] = record

    def _finish(self, record: Any) -> None:
        self._just_finished.append(record.job_id)

    def _progress(self, record: Any) -> None:
        """Print the jobs that finished since the last time."""
        for job_id in self._just_finished:
            job = self._jobs.pop(job_id, None)
            if job is None or job.rule_name == TARGET:
                continue
            self._left[job.rule_name] -= 1
            self._work_done += self._seconds(job.rule_name)
            width = len(str(record.total))
            number = f"{record.done:{width}}/{record.total}"
            with updates_in_titles(self._trainings):
                name = described(job.rule_name, job.wildcards)
            line = f"[{number}  {self._times()}] {name}"
            outcomes = []
            if "folds" in job.wildcards:
                outcomes = outcomes_in(Path(job.log[0]))
            if outcomes:
                line = f"{line}: {'; '.join(outcomes)}"
            print(line, flush=True)
        self._just_finished = []

    def _times(self) -> str:
        """Time since the start, and the forecast of the rest at a speed that jobs correct."""
        elapsed = self._clock() - self._begun
        work_left = sum(self._seconds(rule) * count for rule, count in self._left.items())
        if work_left <= 0:
            return clock_time(elapsed)
        done = self._work_done / self._cores
        left = work_left / self._cores
        prior = PRIOR_SHARE * (done + left)
        slowness = (prior + elapsed) / (prior + done)
        return f"{clock_time(elapsed)}  {about(slowness * left)} left"

    def _seconds(self, rule: str) -> float:
        return self._job_seconds.get(rule, self._job_seconds[""])


def install(plan: Plan, snakemake: Any) -> None:
    """Print lines for readers from now on, unless Snakemake shall be quiet or tell more."""
    settings = snakemake.output_settings
    quiet = {str(getattr(name, "name", name)).lower() for name in settings.quiet or ()}
    if settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag:
        return
    if quiet & {"all", "progress", "rules"}:
        return
    from snakemake.logging import logger

    from workflow.planning.forecast import job_seconds

    for handler in list(logger.handlers):
        if handler.name == "DefaultStreamHandler":
            logger.removeHandler(handler)
            trainings = []
            for run in plan.runs.values():
                if run.method == EXACT:
                    trainings.append((run.dataset, run.variant, run.settings["updates"]))
            resources = snakemake.resource_settings
            cores = resources.cores or resources.nodes or 1
            logger.addHandler(Terminal(handler, job_seconds(plan), cores, trainings))


def described(rule: str, wildcards: Mapping[str, str]) -> str:
    """What a job has done, as a reader names it."""
    if rule == "prepare":
        return f"data of {dataset_title(wildcards['dataset'])}"
    if "folds" in wildcards:
        method = method_title(wildcards["method"], wildcards["variant"])
        folds = wildcards["folds"].replace("_", ", ")
        noun = "fold" if folds.isdigit() else "folds"
        run = f"{method} on {dataset_title(wildcards['dataset'])}, {noun} {folds}"
        if "part" in wildcards:
            run += f", part {int(wildcards['part']) + 1} of {wildcards['parts']}"
        if wildcards["seed"] != "0":
            run = f"{run}, seed {wildcards['seed']}"
        return f"probes of {run}" if rule in PROBING else run
    if rule == "collect":
        return f"rows of {wildcards['study']}"
    if "study" in wildcards:
        return f"tables and figures of {wildcards['study']}"
    return rule


def tell_address() -> None:
    """Print where the report is, if there is one."""
    report = Path(paths.REPORT)
    if report.exists():
        print(f"report: {report.resolve().as_uri()}", flush=True)


def outcomes_in(log: Path) -> list[str]:
    """Outcomes that the end of a log tells."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL))
            lines = file.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.removeprefix(OUTCOME) for line in lines if line.startswith(OUTCOME)]


def about(seconds: float) -> str:
    """A forecast as a reader says it."""
    if seconds < SHORT:
        return "less than 2 min"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"about {hours} h {rest} min" if hours else f"about {rest} min"


def clock_time(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _is_chatter(record: logging.LogRecord, event: str) -> bool:
    if event or record.levelno > logging.INFO:
        return False
    message = record.getMessage().strip()
    return not message or message == "None" or message.startswith(SILENT_MESSAGES)
