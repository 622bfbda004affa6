"""The command for one table."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.errors import UserError
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


def test_best_model_comes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--methods", "constant", "linear", "knn", "--folds", "2", "--cores", "2")
    _run(folder, monkeypatch, "Two Features.csv", "--target", "total", *chosen)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if " ± " in line] == ["Linear", "k-NN", "Constant"]
    probed = [line.split() for line in lines if line.startswith("k-NN") and "×" in line]
    assert float(probed[0][2]) > 1  # the factor of RMSE when other rows are shuffled
    output = folder / "Two Features_benchmark"
    assert (output / paths.REPORT).exists()
    assert "two_features" in (output / "config.yaml").read_text()


def test_few_whole_numbers_are_classes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="minutes"):
        _run(folder, monkeypatch, "classes.csv", "--target", "total", "--minutes", "0.01")
    assert "binary of total" in capsys.readouterr().out


def test_unknown_method_is_refused_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="--methods"):
        _run(folder, monkeypatch, "classes.csv", "--target", "total", "--methods", "nobody")
