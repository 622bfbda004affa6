"""What the command lines of all steps share."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from filelock import AcquireReturnProxy, FileLock, Timeout

from npt.errors import Infeasible, UserError, require_known
from workflow.planning import paths

if TYPE_CHECKING:
    from workflow.config.models import Study
    from workflow.planning.plan import Plan


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help starts with the step's docstring."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def planned_study(description: str | None) -> tuple[Plan, Study]:
    """The plan, and its study that the command line of a step names.

    Raises:
        UserError: The plan has no such study.
    """
    from workflow.planning.kept import load  # with numpy, whose threads a server limits before

    options = parser(description)
    options.add_argument("--study", required=True, help="a study of the plan")
    name = options.parse_args().study
    plan = load()
    require_known(name, plan.studies, "--study")
    return plan, plan.studies[name]


def run_parser(description: str | None) -> argparse.ArgumentParser:
    """The same for steps of a run."""
    options = parser(description)
    options.add_argument("--run", required=True, help="stem of a run of the plan")
    options.add_argument("--threads", type=count, default=1, help="threads (default: %(default)s)")
    options.add_argument("--device", default="auto", help="auto, cpu or a torch device")
    return options


def count(text: str) -> int:
    """At least 1; argparse names the function where the text is no number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def lock_of(run: str) -> AcquireReturnProxy:
    """The lock of a run; the process of a Snakemake that was killed may have it."""
    lock = FileLock(paths.run_lock(run))
    try:
        return lock.acquire(blocking=False)
    except Timeout:
        print(f"waiting for another process that fits or probes {run}", flush=True)
        return lock.acquire()


def limit_threads(threads: int) -> None:
    """Limit the threads of libraries that are loaded later."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the program in one line at a user error, too little memory or a full disk."""
    try:
        yield
    except (UserError, Infeasible, MemoryError) as error:
        sys.exit(f"error: {str(error) or 'out of memory'}")
    except OSError as error:
        file = f"{error.filename}: " if error.filename else ""
        sys.exit(f"error: {file}{error.strerror or error}")


def execute(main: Callable[[], Any]) -> NoReturn:
    """Run a step; an error of one line or Ctrl-C ends it without a traceback."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with one_line_errors():
            main()
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)
