"""What a measurement ran on, and how fast that is at matrix products."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from npt.evaluation import forget_peak_memory, peak_memory_mb

SIDE = {"cpu": 1536, "cuda": 8192}


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has; `begin` acts on them."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--json", type=Path, help="file for the figures")
    return options


def begin(given: argparse.Namespace) -> torch.device:
    """Take the threads that were asked for, say what it runs on, and give the device."""
    torch.set_num_threads(given.threads)
    device = torch.device(given.device)
    print(f"{facts(device)['device']}, {given.threads} threads", flush=True)
    return device


def seconds(action: Callable[[], Any], device: torch.device) -> float:
    """Wall time of an action, until the device is done."""
    synchronise(device)
    started = time.perf_counter()
    action()
    synchronise(device)
    return time.perf_counter() - started


def synchronise(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class MatrixRate:
    """Operations a second of a large square matrix product, kept up for a while: what other work takes is taken from it too."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self.device, self.side = device, SIDE[device.type]
        self.left, self.right = (
            torch.randn(self.side, self.side, device=device).to(dtype) for _ in range(2)
        )
        self.out = torch.mm(self.left, self.right)

    def measure(self, lasting: float = 0.5) -> float:
        """The rate over about so many seconds."""
        products, took = 0, 0.0
        while took < lasting:
            took += seconds(lambda: torch.mm(self.left, self.right, out=self.out), self.device)
            products += 1
        return products * 2 * self.side**3 / took


def forget_peak(device: torch.device) -> None:
    """Begin a new measurement of peak memory."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    elif not forget_peak_memory():
        raise OSError("this system cannot forget a peak of memory")


def peak_megabytes(device: torch.device) -> float:
    """Peak memory since `forget_peak`: of the device, or resident on the CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return peak_memory_mb()


def facts(device: torch.device) -> dict[str, Any]:
    """Device, versions, code revision and command of a measurement."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _cpu_name()
    return {
        "device": name,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "revision": _revision(),
        "command": " ".join(
            ["python -m", getattr(sys.modules["__main__"].__spec__, "name", "?"), *sys.argv[1:]]
        ),
    }


def write(path: Path | None, content: dict[str, Any]) -> None:
    """Figures as JSON, where a file is named."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n")


def _cpu_name() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in fields.items()}
    if "model name" not in found:
        return platform.processor() or platform.machine()
    return f"{found['model name']} (family {found.get('cpu family')}, model {found.get('model')})"


def _revision() -> str:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
