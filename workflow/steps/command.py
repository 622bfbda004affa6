"""What every step's command line shares."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from npt.interface import UserError
from workflow.config import parse_seeds


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help starts with the step's docstring."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def run_parser(description: str | None) -> argparse.ArgumentParser:
    """The options of steps that work on one run: identity, settings, prepared data and outputs."""
    options = parser(description)
    for name in ("dataset", "method", "fingerprint"):
        options.add_argument(f"--{name}", required=True)
    options.add_argument("--variant", default="base")
    options.add_argument("--preset", default="custom", help="name of the configuration, kept in the rows")
    options.add_argument("--seeds", type=_seeds, required=True, help="folds, such as 0-2")
    options.add_argument("--settings", type=json.loads, default={}, help="changes to the method's defaults, as JSON")
    options.add_argument("--data", type=Path, required=True, help="prepared dataset (.npz)")
    options.add_argument("--rows", type=Path, required=True, help="where the rows go (.jsonl)")
    options.add_argument("--predictions", type=Path, required=True, help="where the predictions go (.npz)")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--device", default="auto", help="auto, cpu, or a torch device such as cuda:0")
    return options


def limit_threads(threads: int) -> None:
    """Hold libraries that are loaded later to `threads` threads."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


def execute(main: Callable[[], Any]) -> NoReturn:
    """Run a step; a user's mistake, a full disk or Ctrl-C ends it with one line instead of a traceback."""
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(
            f"error: {error.filename or 'output'}: {error.strerror or error}; what was finished is kept, run again to go on"
        )
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _seeds(text: str) -> tuple[int, ...]:
    seeds = parse_seeds(text, "--seeds")
    if seeds is None:
        raise UserError("--seeds: name the folds, such as 0-2")
    return seeds
