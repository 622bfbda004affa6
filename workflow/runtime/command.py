"""What the command lines of all steps share."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from npt.errors import UserError


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help starts with the step's docstring."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def run_parser(description: str | None) -> argparse.ArgumentParser:
    """The same for steps of a run."""
    options = parser(description)
    options.add_argument("--run", required=True, help="stem of a run of the plan")
    options.add_argument("--threads", type=int, default=1, help="threads (default: %(default)s)")
    options.add_argument("--device", default="auto", help="auto, cpu or a torch device")
    return options


def minutes(text: str) -> float:
    """A positive time; argparse names the function where the text is no number."""
    time_limit = float(text)
    if not 0 < time_limit < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of minutes")
    return time_limit


def limit_threads(threads: int) -> None:
    """Limit the threads of libraries that are loaded later."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the program in one line at a user error or a full disk."""
    try:
        yield
    except UserError as error:
        sys.exit(f"error: {error}")
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
