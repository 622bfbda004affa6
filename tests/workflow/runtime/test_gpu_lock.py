"""Every training has a GPU of its own."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from baselines import methods
from npt.errors import UserError
from workflow.runtime import gpu_lock

HOLD = """
import sys
from workflow.runtime import gpu_lock
gpu_lock.SECONDS = 0.05
print(gpu_lock.claim(["0", "1"]), flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD]
    environment = {**os.environ, "TMPDIR": str(folder)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_third_process_waits_for_one_of_two_gpus(tmp_path: Path) -> None:
    first = holder(tmp_path)
    second = holder(tmp_path)
    indices = {line_of(first), line_of(second)}
    assert indices == {"0", "1"}
    third = holder(tmp_path)
    assert line_of(third).startswith("waiting for a GPU")
    second.kill()
    assert line_of(third) in indices
    for process in (first, second, third):
        process.kill()
        process.wait()


def test_gpus_are_known_by_their_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in two jobs that both see their GPU as 0."""
    gpus = [SimpleNamespace(uuid="aaaa"), SimpleNamespace(uuid="bbbb")]
    monkeypatch.setattr(torch.cuda, "get_device_properties", gpus.__getitem__)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert gpu_lock.gpu_names(2) == ["aaaa", "bbbb"]


def test_trainings_can_share_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed: list[list[str]] = []

    def claim(places: list[str]) -> int:
        claimed.append(places)
        return 3

    monkeypatch.setattr(gpu_lock, "claim", claim)
    monkeypatch.setattr(gpu_lock, "gpu_names", lambda number: ["a", "b"])
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("NPT_TRAININGS_PER_GPU", "2")
    assert gpu_lock.device("auto", methods()["npt"]) == "cuda:1"
    assert claimed == [["a", "b", "a-1", "b-1"]]


@pytest.mark.parametrize("number", ["0", "-1", "many", ""])
def test_number_of_trainings_on_a_gpu_is_checked(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPT_TRAININGS_PER_GPU", number)
    with pytest.raises(UserError, match="NPT_TRAININGS_PER_GPU"):
        gpu_lock.shared()


def test_a_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_lock.os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    monkeypatch.setattr(gpu_lock.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(UserError, match=f"{tmp_path}/.*: belongs to another user"):
        gpu_lock.claim(["0"])
