"""Kills, full disks and damaged files: each ends in a clear line, or in the results of a run that nothing happened to.

They take minutes: `make test-faults` runs them.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.smoke.running import command, run, short, tables

pytestmark = pytest.mark.skipif(
    os.environ.get("NPT_TEST_FAULTS") != "1",
    reason="asked for with NPT_TEST_FAULTS=1 (make test-faults)",
)
KILLS = 20


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("untouched")
    done = run(folder, config=short(folder))
    assert done.returncode == 0, done.stderr
    return folder


def clear(text: str) -> bool:
    """Whether a failure is told in a line, without a traceback."""
    return "error: " in text and "Traceback" not in text


def test_killed_twenty_times_at_random_moments(finished: Path, tmp_path: Path) -> None:
    draws = random.Random(0)
    config = short(tmp_path)
    for _ in range(KILLS):
        process = subprocess.Popen(
            command(tmp_path, config=config),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(draws.uniform(0.5, 7))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = run(tmp_path, config=config)
    assert done.returncode == 0, done.stdout + done.stderr
    assert tables(tmp_path) == tables(finished)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(place)], capture_output=True
    ).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_that_is_full_at_one_step_after_the_other(
    finished: Path, disk: Path, tmp_path: Path
) -> None:
    config, sizes = (
        short(tmp_path),
        ["100k", "300k", "500k", "800k", "1200k", "1800k", "2600k", "100m"],
    )
    ends = []
    for size in sizes:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
        done = run(disk, config=config)
        ends.append(done.returncode)
        text = done.stdout + done.stderr
        assert done.returncode == 0 or clear(text) or "No space left" in text, text
        assert "Traceback" not in text, text
    assert ends[0] != 0 and ends[-1] == 0
    assert tables(disk) == tables(finished)


DAMAGED = [
    "results/data/synthetic.arrow",
    "results/runs/synthetic/npt/base/0.pt",
    "results/runs/synthetic/npt/base/0.jsonl",
    "results/runs/synthetic/knn/base/0-1.jsonl",
    "results/studies/main.csv",
]


@pytest.mark.parametrize("how", ["cut", "flipped"])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_or_makes_no_difference(
    name: str, how: str, finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    path, draws = folder / name, random.Random(name)
    content = bytearray(path.read_bytes())
    if how == "cut":
        content = content[: draws.randrange(1, len(content) - 1)]
    else:
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
    path.write_bytes(content)
    done = run(folder, config=folder / "short.yaml")
    text = done.stdout + done.stderr
    assert "Traceback" not in text, text
    assert tables(folder) == tables(finished) if done.returncode == 0 else clear(text), text
