"""Memory of the machine or the container; importing it loads nothing heavy."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
MEGABYTE = 10**6


def total_megabytes() -> int:
    """All memory that a program may take here."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    total = min(machine, _limit_of_container())
    return int(total / MEGABYTE)


def free() -> float:
    """Bytes that are not taken."""
    machine = re.search(r"MemAvailable:\s*(\d+)", _content(MEMINFO))
    used = _content(CGROUP / "memory.current")
    cached = re.search(r"^inactive_file (\d+)", _content(CGROUP / "memory.stat"), re.M)
    available = math.inf
    if machine:
        available = 1024.0 * int(machine[1])
    if used:
        taken = float(used) - (int(cached[1]) if cached else 0)  # the cache of files is given back
        available = min(available, _limit_of_container() - taken)
    return max(0.0, available)


def is_lacking(error: Exception) -> bool:
    """Whether PyTorch could not allocate memory; on the CPU it raises a plain RuntimeError."""
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def _limit_of_container() -> float:
    maximum = _content(CGROUP / "memory.max").strip()
    return float(maximum) if maximum.isdecimal() else math.inf


def _content(path: Path) -> str:
    return path.read_text() if path.exists() else ""
