"""`python -m npt.data`."""

from __future__ import annotations

from pathlib import Path

import pytest

from npt.data.__main__ import main
from npt.data.datasets import datasets


def run(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    main(["--downloads", str(folder), *arguments])
    return capsys.readouterr().out


def test_the_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, tmp_path)
    for name, dataset in datasets().items():
        assert name.removeprefix(dataset.place) in output
    assert "2.8 GB" in output


def test_fetch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, tmp_path, "fetch", "wine", "synthetic")
    assert "wine_data.csv (" in output
    with pytest.raises(SystemExit, match="'yact' is unknown; did you mean 'yacht'"):
        main(["fetch", "yact"])


def test_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my.csv"
    rows = [f"{i},{i % 3}" for i in range(9)]
    path.write_text("\n".join(["a,b", *rows]))
    inspect = ("inspect", str(path), "--task", "classification", "--target")
    output = run(capsys, tmp_path, *inspect, "b", "--folds", "3")
    assert "9 rows, 1 features, multiclass of b (3 classes: 0, 1, 2)" in output
    with pytest.raises(SystemExit, match=r"my\.csv: target: .*'c'"):
        main([*inspect, "c"])
    with pytest.raises(SystemExit, match="folds"):
        main([*inspect, "b", "--folds", "1"])
