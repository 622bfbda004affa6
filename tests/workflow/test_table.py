"""The command for one table."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from npt.data.custom.reading import split_custom
from npt.errors import UserError
from npt.estimator import NPTRegressor
from npt.provenance import ROOT
from tests.smoke.running import state_of, wait_until
from workflow.config.reading import as_yaml, parse
from workflow.planning import paths
from workflow.table.__main__ import read_table, run
from workflow.table.benchmark import Benchmark
from workflow.table.explanation import explained

LIMIT = 3600.0  # seconds


@pytest.fixture
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


def _named_numbers(text: str) -> dict[str, list[float]]:
    """Numbers of names, such as `GP (0.445)`, `51 (GP)` and those of the first explained row."""
    numbers = defaultdict(list)
    for name, number in re.findall(r"(\w+) \(([\d.]+)\)", text):
        numbers[name].append(float(number))
    for number, name in re.findall(r"([\d.]+) \(([A-Z][\w ]+)\)", text):
        numbers[name].append(float(number))
    explained_row, *_ = re.findall(r"^(?: +[\d.]+){7}$", text, re.MULTILINE)
    numbers["explained row"] = [float(number) for number in explained_row.split()]
    return numbers


def test_wheel_answers_as_the_readme_shows(tmp_path: Path, package: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^npt-benchmark (.*?) *#", readme, re.MULTILINE)
    (example,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    path, *options = command.split()
    program = [sys.executable, "-m", "workflow.table", str(ROOT / path), "--minutes", "20"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [*program, *options], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    expected = _named_numbers(example)
    actual = _named_numbers(done.stdout)
    assert actual.keys() == expected.keys()
    for name, numbers in expected.items():
        assert actual[name] == pytest.approx(numbers, rel=0.1), name
    assert (tmp_path / "yachts_benchmark" / paths.REPORT).exists()


def test_few_whole_numbers_are_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feature = np.random.default_rng(0).normal(size=60)
    table = pd.DataFrame({"feature": feature, "sign": (feature > 0).astype(int)})
    table.to_csv(tmp_path / "A Sign.csv", index=False)
    monkeypatch.chdir(tmp_path)
    command = ["npt-benchmark", "A Sign.csv", "--target", "sign"]
    monkeypatch.setattr(sys, "argv", [*command, "--methods", "linear,kn"])
    with pytest.raises(UserError, match=r"--methods.*knn"):
        run()
    monkeypatch.setattr(sys, "argv", [*command, "--minutes", "0.01"])
    with pytest.raises(UserError, match="minutes"):
        run()
    assert "binary of sign" in capsys.readouterr().out
    assert "a_sign" in (tmp_path / "A Sign_benchmark" / "config.yaml").read_text()


@pytest.mark.parametrize(("last", "task"), [("", "binary"), ("0.5", "regression")])
def test_a_missing_target_leaves_classes_what_they_are(
    tmp_path: Path, last: str, task: str
) -> None:
    targets = [str(row % 2) for row in range(40)]
    lines = [f"{row},{target}" for row, target in enumerate([*targets, last])]
    _, custom = read_table(asked(written(tmp_path, lines)))
    assert custom.table.task == task


def asked(path: Path, **changes: Any) -> argparse.Namespace:
    """The command line's options for a file whose target is y."""
    return argparse.Namespace(**{"path": str(path), "target": "y", "task": None, **changes})


def written(folder: Path, lines: Iterable[str], names: str = "x,y", file: str = "mine.csv") -> Path:
    """A file of a table."""
    path = folder / file
    path.write_text("\n".join([names, *lines]))
    return path


def explanation(path: Path, **changes: Any) -> list[str]:
    """Lines of the explained predictions of a table."""
    custom = split_custom(*read_table(asked(path, **changes)))
    blocks = explained(custom.table, custom.splits[0], path.parent)
    return "\n".join(blocks).splitlines()


def test_numbers_beside_a_word_are_no_classes(tmp_path: Path) -> None:
    ages = [*map(str, range(20, 60)), "?"] * 2
    lines = [f"{row},{age}" for row, age in enumerate(ages)]
    path = written(tmp_path, lines, file="2024 ages.csv")
    with pytest.raises(UserError, match=r"'y'.*or say --task classification"):
        read_table(asked(path))
    dataset, custom = read_table(asked(path, missing=["?"]))
    assert (dataset.name, custom.table.task) == ("table_2024_ages", "regression")
    assert np.isnan(custom.table.truth).sum() == 2


def test_a_table_that_cannot_be_split_does_not_change_its_task(tmp_path: Path) -> None:
    lines = [f"{row},{row / 7},{row % 2}" for row in range(60)]
    path = written(tmp_path, lines, names="x,y,z")
    dataset, custom = read_table(asked(path, group="z"))
    with pytest.raises(UserError, match=r"folds: 2 groups are too few for 3 folds[^;]*$"):
        split_custom(dataset, custom)


def test_few_groups_have_a_fold_each(tmp_path: Path) -> None:
    targets = ["" if row % 6 == 5 else row / 7 for row in range(60)]
    path = written(tmp_path, [f"{row},{y},{row % 6}" for row, y in enumerate(targets)], "x,y,g")
    assert len(split_custom(*read_table(asked(path, group="g"))).splits) == 5


def test_a_class_of_one_row_names_the_other_task(tmp_path: Path) -> None:
    counts = [row % 6 for row in range(60)] + [9]
    path = written(tmp_path, [f"{row},{count}" for row, count in enumerate(counts)])
    with pytest.raises(UserError, match=r"'9' has one row.*no classes, --task regression"):
        read_table(asked(path))


def test_a_folder_of_another_run_is_spared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, [f"{row},{row / 7}" for row in range(60)])
    config = tmp_path / "config.yaml"
    config.write_text("preset: mine\n")
    monkeypatch.setattr(
        sys, "argv", ["npt-benchmark", str(path), "--target", "y", "--output", str(tmp_path)]
    )
    with pytest.raises(UserError, match=r"--output: .*config\.yaml is of another run"):
        run()
    assert config.read_text() == "preset: mine\n"
    table_of_x = {"mine": {"path": str(path), "target": "x"}}
    config.write_text(as_yaml({"preset": "one table", "custom_datasets": table_of_x}))
    with pytest.raises(UserError, match=r"is of another run, table or target"):
        run()
    for foreign in ("custom_datasets: [x]", "custom_datasets: {mine: x}"):
        config.write_text(foreign)
        with pytest.raises(UserError, match="is of another run"):
            run()
    config.unlink()
    with FileLock(tmp_path / ".lock"), pytest.raises(UserError, match="another benchmark uses"):
        run()


def test_the_declaration_of_a_table_is_that_of_a_dataset(tmp_path: Path) -> None:
    lines = [f"{row};{row},5;{row / 7:.3f}".replace(".", ",") for row in range(1, 60)]
    path = written(tmp_path, lines, names="0;0,5;0,000")
    options = asked(path, names=["t", "x", "y"], decimal=",", time="t", folds=2)
    (split,) = split_custom(*read_table(options)).splits.values()
    assert len(split.rows("test")) == 6  # of ten parts: `folds` of the command are those to run


def test_a_run_that_fails_has_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, [f"{row},{row / 7}" for row in range(60)], names="x,1e5")
    output = tmp_path / "run"
    command = ["npt-benchmark", str(path), "--target", "1e5", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", [*command, "--methods", "constant"])
    (output / ".snakemake").mkdir(parents=True)
    with (
        FileLock(output / ".snakemake" / "npt.lock"),
        pytest.raises(UserError, match=r"the run failed \(.*another run uses this folder; wait"),
    ):
        run()
    assert parse(output / "config.yaml")["custom_datasets"]["mine"]["target"] == "1e5"


def test_equal_rows_with_other_targets_are_rows_of_their_own(tmp_path: Path) -> None:
    rows = [f"{row % 10},{row % 10 + 100 * (row % 20 < 10) + row / 1000}" for row in range(60)]
    lines = explanation(written(tmp_path, rows))
    header, _, first = (re.split(r"  +", line.strip()) for line in lines[2:5])
    row, target = (first[header.index(name)] for name in ("rests on row", "of target"))
    assert float(target) == pytest.approx(float(rows[int(row) - 1].split(",")[1]), rel=1e-3)


def test_no_prediction_rests_on_another_row_of_its_group(tmp_path: Path) -> None:
    rows = [f"{row % 12},{row / 7},{row % 12}.5" for row in range(120)]
    lines = explanation(written(tmp_path, rows, names="g,x,y"), group="g")
    cells = [list(map(float, line.split())) for line in lines[4:-1]]
    assert len(cells) == 9
    assert not (tmp_path / "results/predictions.csv").exists()
    for row, _, _, rests_on, *_ in cells:
        assert row % 12 != rests_on % 12


def test_rows_without_a_target_are_predicted_as_those_of_new_groups(tmp_path: Path) -> None:
    persons = np.arange(120) % 12
    frame = pd.DataFrame({"g": persons, "x": np.arange(120) / 7, "h": persons**2 % 7})
    target = frame["x"] + 9 * (persons % 5)
    is_new = (persons == 5) | (frame.index < 3)
    lines = frame.assign(y=target.mask(is_new)).to_csv(index=False).splitlines()
    text = explanation(written(tmp_path, lines[1:], names=lines[0]), group="g")
    assert "As rows of new groups, also 3 of groups with known targets." in text
    features = frame[["x", "h"]]
    model = NPTRegressor(architecture="solved")
    model.fit(features[~is_new], target[~is_new], groups=persons[~is_new])
    found = pd.read_csv(tmp_path / "results/predictions.csv")[["lower", "upper"]]
    expected = model.predict_interval(features[is_new], 0.9)
    assert found.to_numpy() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("word", ["", "class "])
def test_rows_without_a_target_are_predicted(tmp_path: Path, word: str) -> None:
    targets = [f"{word}{row // 30 if word else row}" for row in range(90)]
    targets[10] = targets[70] = ""
    rows = [f"{row / 7},{y}" for row, y in enumerate(targets)]
    _, place, _, title, *_ = explanation(written(tmp_path, rows))
    file = tmp_path / "results/predictions.csv"
    assert place == f"Predictions of 2 rows without a target, by solved NPT: {file}"
    assert title.endswith("fitted to all rows with a target:")
    found = pd.read_csv(file)
    assert found["row"].tolist() == [11, 71]
    if word:
        assert found["prediction"].tolist() == ["class 0", "class 2"]
        assert found.filter(like="probability of class").sum(axis=1).to_numpy() == pytest.approx(1)
        return
    assert found["prediction"].to_numpy() == pytest.approx([10, 70], abs=0.5)
    assert found["lower"].lt([10, 70]).all()
    assert found["upper"].gt([10, 70]).all()


def test_a_trend_of_new_rows_is_warned_of_and_categories_are_not(tmp_path: Path) -> None:
    rows = [f"{row},n{row % 50},{row * 37 % 101 / 3 if row < 60 else ''}" for row in range(90)]
    path = written(tmp_path, rows, names="day,name,y")
    with pytest.warns(UserWarning) as caught:
        explanation(path, categorical=["name"])
    (message,) = {str(warning.message) for warning in caught}
    assert message.startswith("X: column 'day' has 25 of 30 numbers far beyond the fitted ones")


def test_features_without_a_difference_rest_on_all_rows_alike(tmp_path: Path) -> None:
    file = tmp_path / "results/predictions.csv"
    for first in ("1,", "1,0.5"):
        rows = [first, *(f"1,{row / 7}" for row in range(60))]
        lines = explanation(written(tmp_path, rows))
        (place,) = (index for index, line in enumerate(lines) if "weight" in line)
        header, _, cells = (re.split(r"  +", line.strip()) for line in lines[place : place + 3])
        assert 0.015 < float(cells[header.index("weight")]) < 0.03
        assert file.exists() == (first == "1,")  # a file of an earlier state goes


def test_names_of_classes_are_not_rounded(tmp_path: Path) -> None:
    rows = [f"{row},3.1{'0' * (row % 2)}" for row in range(60)]
    lines = explanation(written(tmp_path, rows), task="classification")
    assert {word for line in lines for word in line.split()} >= {"3.1", "3.10"}


def test_the_time_limit_ends_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = tmp_path / "Snakefile"
    rules.write_text("rule:\n  output: 'x'\n  shell: 'echo $$ > started; exec sleep 600'\n")
    monkeypatch.setattr("workflow.table.benchmark.SNAKEFILE", rules)
    dataset, _ = read_table(asked(ROOT / "docs/tutorials/yachts.csv", target="resistance"))
    benchmark = Benchmark(tmp_path, dataset, folds=3, cores=1)
    benchmark.config.write_text("{}")
    started = tmp_path / "started"
    wait = subprocess.Popen.wait

    def wait_for_job(process: subprocess.Popen[bytes], seconds: float | None = None) -> int:
        if seconds == LIMIT:
            wait_until(started.exists)
            seconds = 0.0
        return wait(process, seconds)

    monkeypatch.setattr(subprocess.Popen, "wait", wait_for_job)
    assert not benchmark._snakemake(LIMIT, ["x"])
    wait_until(lambda: state_of(int(started.read_text())) in ("gone", "Z"))
