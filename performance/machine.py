"""Options of every benchmark, tables, timing, and peak memory."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch.utils.benchmark import timer

from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.source import DOWNLOADS
from npt.data.store import Prepared
from npt.evaluation import peak_gpu_memory_mb, peak_memory_mb
from workflow.results.job import machine
from workflow.runtime import command


def parser(description: str | None) -> argparse.ArgumentParser:
    """Parser with the options of every benchmark, for `start`."""
    options = command.parser(description)
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options.add_argument("--device", type=torch.device, default=device)
    options.add_argument("--json", type=Path, help="file for the measurements")
    return options


def start(options: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line, set the threads, and print the machine."""
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"{device_name(arguments.device)}, {arguments.threads} threads", flush=True)
    return arguments


def device_name(device: torch.device) -> str:
    """Model of the GPU or of the processor."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else machine()


def prepared(name: str) -> Prepared:
    """A declared table with its folds, prepared anew."""
    return prepare_declared(datasets()[name], DOWNLOADS)


def seconds(action: Callable[[], Any]) -> float:
    """Wall time of an action, until the GPU has finished."""
    started = timer()
    action()
    return timer() - started


def peak_megabytes() -> float:
    """Peak memory since `reset_peak_memory` in MiB: allocated on a GPU, or resident."""
    return peak_gpu_memory_mb() or peak_memory_mb()


def report(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Print measurements; if a file is named, write them, and what they were made on, as JSON."""
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".3f"))
    if arguments.json is None:
        return
    from workflow.report.page import code_revision  # whose libraries no measurement shall have

    content = {
        "device": device_name(arguments.device),
        "threads": arguments.threads,
        "torch": torch.__version__,
        "revision": code_revision(),
        "command": " ".join(sys.orig_argv[1:]),
        "rows": rows,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(content, indent=1) + "\n")
