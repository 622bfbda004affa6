"""Full disks and truncated files end in one line, or in the results of an undisturbed run.

They take minutes: `make test-faults` runs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.smoke.running import run, run_to_end, short_config, shown

pytestmark = pytest.mark.skipif(
    os.environ.get("NPT_TEST_FAULTS") != "1", reason="runs with NPT_TEST_FAULTS=1"
)
DISK_SIZES = ["100k", "300k", "500k", "800k", "1200k", "1800k", "2600k", "100m"]
TRUNCATED = [
    "results/data/synthetic.arrow",
    "results/runs/synthetic/npt/tuned/seed_0/folds_0.pt",
    "results/runs/synthetic/npt/tuned/seed_0/folds_0.jsonl",
    "results/runs/synthetic/npt/tuned/seed_0/folds_0.predictions.npz",
    "results/runs/synthetic/knn/base/seed_0/folds_0-1.jsonl",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    run_to_end(folder, config=short_config(folder))
    return folder


def output(result: subprocess.CompletedProcess[str]) -> str:
    return result.stdout + result.stderr


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk_is_one_line(finished: Path, disk: Path, tmp_path: Path) -> None:
    config = short_config(tmp_path)
    codes: list[int] = []
    for size in DISK_SIZES:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
        result = run(disk, config=config)
        codes.append(result.returncode)
        text = output(result)
        assert "Traceback" not in text, text
        if result.returncode != 0:
            assert "error: " in text or "No space left" in text, text
    assert codes[0] != 0
    assert codes[-1] == 0
    assert shown(disk) == shown(finished)


@pytest.mark.parametrize("name", TRUNCATED)
def test_truncated_file_is_named_or_rebuilt(name: str, finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    result = run(folder, config=folder / "changed.yaml")
    text = output(result)
    assert "Traceback" not in text, text
    if result.returncode == 0:
        assert shown(folder) == shown(finished)
    else:
        assert "error: " in text, text
