"""Every training has a card of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from workflow.runtime import gpu_lock

HOLD = "import sys; from pathlib import Path; from workflow.runtime.gpu_lock import claim; "
HOLD += "print(claim(['0', '1'], Path(sys.argv[1]), 0.05), flush=True); sys.stdin.read()"


def holder(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_take_different_cards_and_a_third_waits_for_one(tmp_path: Path) -> None:
    first, second = holder(tmp_path), holder(tmp_path)
    assert first.stdout and second.stdout
    places = {first.stdout.readline().strip(), second.stdout.readline().strip()}
    assert places == {"0", "1"}
    third = holder(tmp_path)
    assert (
        third.stdout and third.stdout.readline() == "waiting for a GPU: other trainings have 0, 1\n"
    )
    second.kill()
    second.wait()
    freed = third.stdout.readline().strip()
    assert freed in places
    for process in (first, third):
        process.kill()
        process.wait()


def test_what_was_asked_for_is_taken_and_cards_are_known_by_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gpu_lock.device("cpu") == "cpu"
    assert gpu_lock.device("cuda:3") == "cuda:3"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,GPU-5")
    assert gpu_lock.identities(2) == ["2", "GPU-5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpu_lock.identities(2) == ["0", "1"]


def test_a_card_is_waited_for_no_longer_than_it_is_held(tmp_path: Path) -> None:
    first = holder(tmp_path)
    assert first.stdout
    first.stdout.readline()
    started = time.monotonic()
    assert gpu_lock.claim(["0", "1"], tmp_path, 0.05) in (0, 1)
    assert time.monotonic() - started < 1
    first.kill()
    first.wait()
