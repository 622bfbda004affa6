"""Memory of the machine and of a container."""

import math
from pathlib import Path

import pytest

from npt.nn import memory


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    return tmp_path


def test_a_container_has_less_than_its_machine(container: Path) -> None:
    machine = memory.total_megabytes()
    assert machine > 100
    (container / "memory.max").write_text("50000000\n")
    (container / "memory.current").write_text("20000000\n")
    assert memory.total_megabytes() == 50
    assert memory.free() == 30_000_000
    (container / "memory.current").write_text("60000000\n")
    assert memory.free() == 0
    (container / "memory.max").write_text("max\n")
    assert memory.total_megabytes() == machine
    assert 0 < memory.free() < math.inf


def test_without_the_files_of_linux_nothing_is_known_to_be_taken(
    container: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MEMINFO", container / "meminfo")
    assert memory.free() == math.inf
    assert memory.total_megabytes() > 100
