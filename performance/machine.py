"""Options of every benchmark, timing, peak memory, and the rate of matrix products."""

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

from npt.evaluation import peak_memory_mb, reset_peak_memory

ROOT = Path(__file__).parents[1]
MATRIX_SIDE = {"cpu": 1536, "cuda": 8192}


def parser(description: str | None) -> argparse.ArgumentParser:
    """Parser with the options of every benchmark; `start` applies them."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options.add_argument("--device", default=device)
    options.add_argument("--json", type=Path, help="file for the measurements")
    return options


def start(arguments: argparse.Namespace) -> torch.device:
    """Set the threads, print the machine, and return the device."""
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)
    print(f"{device_name(device)}, {arguments.threads} threads", flush=True)
    return device


def seconds(action: Callable[[], Any], device: torch.device) -> float:
    """Wall time of an action, until the device has finished."""
    synchronise(device)
    started = time.perf_counter()
    action()
    synchronise(device)
    return time.perf_counter() - started


def synchronise(device: torch.device) -> None:
    """Wait until the device has finished."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class MatrixRate:
    """Sustained rate of a large square matrix product, slowed by other work on the machine."""

    def __init__(
        self,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.device = device
        self.side = MATRIX_SIDE[device.type]
        shape = (self.side, self.side)
        self.left = torch.randn(shape, device=device).to(dtype)
        self.right = torch.randn(shape, device=device).to(dtype)
        self.product = torch.mm(self.left, self.right)

    def measure(self, duration: float = 0.5) -> float:
        """Operations per second over about `duration` seconds."""
        products = 0
        elapsed = 0.0
        while elapsed < duration:
            elapsed += seconds(self._multiply, self.device)
            products += 1
        return products * 2 * self.side**3 / elapsed

    def _multiply(self) -> None:
        torch.mm(self.left, self.right, out=self.product)


def reset_peak(device: torch.device) -> None:
    """Start a new measurement of peak memory."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    elif not reset_peak_memory():
        raise OSError("this system cannot reset the peak of memory")


def peak_megabytes(device: torch.device) -> float:
    """Peak memory since `reset_peak` in MiB: allocated on a GPU, resident on the CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return peak_memory_mb()


def facts(device: torch.device) -> dict[str, Any]:
    """Device, instructions, versions, code revision and command of a measurement."""
    module = getattr(sys.modules["__main__"].__spec__, "name", "?")
    command = ["python -m", module, *sys.argv[1:]]
    return {
        "device": device_name(device),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "revision": _revision(),
        "command": " ".join(command),
    }


def write(
    arguments: argparse.Namespace,
    benchmark: str,
    rows: list[Any],
) -> None:
    """Write measurements as JSON if a file is named."""
    path = arguments.json
    if path is None:
        return
    content = {"benchmark": benchmark} | facts(torch.device(arguments.device))
    content["rows"] = rows
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def device_name(device: torch.device) -> str:
    """Model of the GPU or of the processor."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    processor = _processor()
    if "model name" not in processor:
        return platform.processor() or platform.machine()
    family = processor.get("cpu family")
    model = processor.get("model")
    return f"{processor['model name']} (family {family}, model {model})"


def _processor() -> dict[str, str]:
    """Fields of the last processor of /proc/cpuinfo; empty where there is no such file."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    fields = {}
    for text in path.read_text().splitlines():
        key, _, value = text.partition(":")
        fields[key.strip()] = value.strip()
    return fields


def _revision() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        output = subprocess.check_output(command, text=True, cwd=ROOT, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return output.strip()
