"""What every step's command line shares."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from baselines import methods
from npt.interface import UserError
from npt.metrics import PAPER_METRICS
from workflow.config.folds import parse_folds
from workflow.config.scoring import Scoring

LOG = "--log"
# Under torchrun several processes train one model: one of them begins the log that all write into, and writes the results.
CHIEF, PROCESSES = int(os.environ.get("RANK", "0")) == 0, int(os.environ.get("WORLD_SIZE", "1"))


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help starts with the step's docstring; `execute` acts on its --log."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        LOG, type=Path, help="file for everything that is printed (default: the terminal)"
    )
    return options


def run_parser(description: str | None) -> argparse.ArgumentParser:
    """The options of steps that work on one run: identity, settings, prepared data and outputs."""
    options = parser(description)
    options.add_argument("--dataset", required=True)
    options.add_argument(
        "--method", required=True, choices=methods(), metavar="METHOD", help=", ".join(methods())
    )
    options.add_argument("--fingerprint", required=True)
    options.add_argument("--variant", default="base")
    options.add_argument(
        "--preset", default="custom", help="name of the configuration, kept in the rows"
    )
    options.add_argument("--folds", type=_folds, required=True, help="folds, such as 0-2")
    options.add_argument(
        "--settings", type=json.loads, default={}, help="changes to the method's defaults, as JSON"
    )
    options.add_argument("--data", type=Path, required=True, help="prepared dataset (.arrow)")
    options.add_argument("--rows", type=Path, required=True, help="where the rows go (.jsonl)")
    options.add_argument(
        "--predictions", type=Path, required=True, help="where the predictions go (.npz)"
    )
    options.add_argument("--threads", type=int, default=1)
    options.add_argument(
        "--device", default="auto", help="auto, cpu, or a torch device such as cuda:0"
    )
    return options


def add_scoring(options: argparse.ArgumentParser) -> None:
    """The option that says how tables are made."""
    what = "metrics (of every task) and ranking (shared or paper), as JSON (default: the paper's metrics, shared)"
    options.add_argument(
        "--scoring",
        type=lambda text: Scoring(**json.loads(text)),
        default=Scoring(PAPER_METRICS),
        help=what,
    )


def limit_threads(threads: int) -> None:
    """Hold libraries that are loaded later to `threads` threads."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


def execute(main: Callable[[], Any]) -> NoReturn:
    """Run a step with its output in the file that `--log` names, if any.

    A mistake, a full disk or Ctrl-C ends it with one line, on the terminal and in the log; the traceback of an unforeseen
    error goes into the log alone.
    """
    terminal = os.dup(sys.stderr.fileno())
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _open_log(sys.argv)
        main()
    except UserError as error:
        _fail(terminal, str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(
            terminal,
            f"{place}{error.strerror or error}; what was finished is kept, run again to go on",
        )
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if LOG not in sys.argv:
            raise
        traceback.print_exc()
        message = " ".join(str(error).split())
        _fail(
            terminal,
            f"{type(error).__name__}: {message} (the whole of it is in {sys.argv[sys.argv.index(LOG) + 1]})",
        )
    sys.exit(0)


def _open_log(arguments: list[str]) -> None:
    """Send everything that this process prints into the log, what libraries print included."""
    if LOG in arguments[:-1]:
        path = Path(arguments[arguments.index(LOG) + 1])
        path.parent.mkdir(parents=True, exist_ok=True)
        if CHIEF:
            path.write_text("")
        with path.open("a") as log:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(log.fileno(), stream.fileno())


def _fail(terminal: int, message: str) -> NoReturn:
    line = f"error: {message}\n"
    if not os.path.samestat(os.fstat(terminal), os.fstat(sys.stderr.fileno())):
        sys.stderr.write(line)
    os.write(terminal, line.encode())
    sys.exit(1)


def _folds(text: str) -> tuple[int, ...]:
    folds = parse_folds(text, "--folds")
    if folds is None:
        raise UserError("--folds: name the folds, such as 0-2")
    return folds
