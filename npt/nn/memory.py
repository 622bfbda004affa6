"""Memory of the machine or the container; importing it loads nothing heavy."""

from __future__ import annotations

import math
import os
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
    return max(0.0, min(_free_in_machine(), _free_in_container()))


def _free_in_machine() -> float:
    if not MEMINFO.exists():
        return math.inf
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return math.inf


def _free_in_container() -> float:
    used = CGROUP / "memory.current"
    if not used.exists():
        return math.inf
    return _limit_of_container() - float(used.read_text())


def _limit_of_container() -> float:
    limit = CGROUP / "memory.max"
    if not limit.exists():
        return math.inf
    maximum = limit.read_text().strip()
    return math.inf if maximum == "max" else float(maximum)
