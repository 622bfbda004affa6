"""`python -m npt.data`."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from npt.data.__main__ import main
from npt.data.datasets import datasets

TABLE = "a,b\n0,0\n1,1\n2,2\n3,0\n4,1\n5,2\n6,0\n7,1\n8,2\n"


def run(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    main(["--downloads", str(folder), *arguments])
    return capsys.readouterr().out


def test_the_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, tmp_path)
    names = [line.split()[0] for line in output.splitlines()[2:] if line]
    assert set(datasets()) <= set(names)
    assert "2.82GB" in output


def test_fetch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, tmp_path, "fetch", "wine", "synthetic")
    assert "wine_data.csv (" in output
    with pytest.raises(SystemExit, match="'yact' is unknown; did you mean 'yacht'"):
        main(["fetch", "yact"])


def test_what_cannot_be_fetched_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sklearn.datasets.fetch_openml", Mock(side_effect=OSError("unreachable")))
    with pytest.raises(SystemExit, match=r"openml:61: cannot be fetched \(unreachable\)"):
        main(["--downloads", str(tmp_path), "fetch", "openml:61", "wine"])


def test_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my.csv"
    path.write_text(TABLE)
    options = ["inspect", str(path), "--task", "classification"]
    output = run(capsys, tmp_path, *options, "--target", "b", "--folds", "3")
    assert "9 rows, 1 features, multiclass of b (3 classes: 0, 1, 2)" in output
    with pytest.raises(SystemExit, match=r"my\.csv: target: .*'c'"):
        main([*options, "--target", "c"])
    with pytest.raises(SystemExit, match="folds"):
        main([*options, "--target", "b", "--folds", "1"])
