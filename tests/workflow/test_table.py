"""The command for one table."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.errors import UserError
from npt.provenance import ROOT
from workflow.planning import paths
from workflow.table import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table whose target is a sum of two features, and classes of its sign."""
    folder = tmp_path_factory.mktemp("table")
    features = np.random.default_rng(0).normal(size=(60, 2))
    total = features.sum(1)
    table = pd.DataFrame(features, columns=["left", "right"])
    table.assign(total=total).to_csv(folder / "Two Features.csv", index=False)
    table.assign(total=(total > 0).astype(int)).to_csv(folder / "classes.csv", index=False)
    return folder


def _run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["npt-benchmark", *arguments])
    run()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel of this project installs."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    copy = folder / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("npt", "baselines", "workflow", "performance"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([*build, "--wheel-dir", str(folder), str(copy)], check=True)
    (wheel,) = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder / "package", "zip")
    return folder / "package"


def test_wheel_answers_for_a_table(folder: Path, package: Path) -> None:
    chosen = ("--methods", "constant,linear", "knn", "--folds", "2", "--cores", "2")
    program = [sys.executable, "-m", "workflow.table", "Two Features.csv", "--target", "total"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [*program, *chosen], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    models = [line.split()[1] for line in lines if " ± " in line]
    assert models == ["Linear", "k-NN", "Constant"]
    (shuffled,) = (line for line in lines if "k-NN" in line and "×" in line and "|" in line)
    assert float(shuffled.split("×")[1].split()[0]) > 1  # the factor of RMSE
    output = folder / "Two Features_benchmark"
    assert (output / paths.REPORT).exists()
    assert "two_features" in (output / "config.yaml").read_text()


def test_unknown_method_has_a_hint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="--methods"):
        _run(folder, monkeypatch, "classes.csv", "--target", "total", "--methods", "linear,kn")


def test_few_whole_numbers_are_classes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="minutes"):
        _run(folder, monkeypatch, "classes.csv", "--target", "total", "--minutes", "0.01")
    assert "binary of total" in capsys.readouterr().out
