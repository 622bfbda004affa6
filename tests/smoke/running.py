"""Start the workflow and its steps, and read what they made."""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "workflow" / "configs" / "smoke.yaml"
SNAKEMAKE = Path(sys.executable).parent / "snakemake"
TIMEOUT = 900
SHORT = ("main", "corruption")  # studies of the short configuration

Done = subprocess.CompletedProcess[str]


def command(folder: Path, *options: str, config: Path = SMOKE) -> list[str]:
    """Command line of a run in a folder."""
    return [
        str(SNAKEMAKE),
        *("--snakefile", str(ROOT / "Snakefile")),
        *("--directory", str(folder)),
        *("--configfile", str(config)),
        *("--workflow-profile", str(ROOT / "profiles" / "default")),
        *("--cores", "2"),
        *options,
    ]


def run(folder: Path, *options: str, config: Path = SMOKE) -> Done:
    """Run the workflow in a folder."""
    arguments = command(folder, *options, config=config)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)


def run_to_end(folder: Path, *options: str, config: Path = SMOKE) -> Done:
    """Run the workflow in a folder, without an error."""
    done = run(folder, *options, config=config)
    assert done.returncode == 0, done.stderr
    return done


def begin(folder: Path, config: Path = SMOKE) -> subprocess.Popen[str]:
    """Start a run in a process group of its own."""
    return subprocess.Popen(
        command(folder, config=config),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_until(happened: Callable[[], bool], patience: float = 300) -> None:
    """Wait some seconds at most."""
    deadline = time.monotonic() + patience
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def state_of(process: int) -> str:
    """Letter of a process's state, `Z` of one whose end its parent has not noticed."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return "gone"
    return status.rpartition(")")[2].split()[0]


def step_command(name: str, *options: str) -> list[str]:
    """Command line of a step."""
    return [sys.executable, "-m", f"workflow.steps.{name}", *options]


def step(folder: Path, name: str, *options: str) -> Done:
    """Run a step in a folder that has a kept plan."""
    arguments = step_command(name, *options)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT, cwd=folder)


def step_here(folder: Path, name: str, *options: str) -> None:
    """Run a step in this process, which has imported what it needs."""
    module = importlib.import_module(f"workflow.steps.{name}")
    with contextlib.chdir(folder), mock.patch.object(sys, "argv", [name, *options]):
        module.main()


def smoke_config(folder: Path, **changes: Any) -> Path:
    """The smoke configuration with other values of some keys, as a file."""
    content = yaml.safe_load(SMOKE.read_text())
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump({**content, **changes}))
    return path


def short_config(folder: Path) -> Path:
    """The smoke configuration with the studies `SHORT`."""
    studies = yaml.safe_load(SMOKE.read_text())["studies"]
    return smoke_config(folder, studies={name: studies[name] for name in SHORT})


WITH_SECONDS = ("cost", "scores", "bencheval")


def shortest_config(folder: Path) -> Path:
    """Those studies of NPT and k-NN alone."""
    studies = yaml.safe_load(SMOKE.read_text())["studies"]
    methods = ["npt", "knn"]
    corruption = {**studies["corruption"], "methods": methods}
    return smoke_config(
        folder,
        methods=methods,
        budget={"npt": 2},
        studies={"main": studies["main"], "corruption": corruption},
    )


def shown(folder: Path) -> dict[str, bytes]:
    """Tables and figures by study and name, but those with seconds, which always differ."""
    contents = {}
    for name in ("tables", "figures"):
        for path in sorted((folder / "results" / name).glob("*/[!.]*")):
            if path.stem not in WITH_SECONDS:
                contents[f"{path.parent.name}/{path.name}"] = path.read_bytes()
    return contents
