"""Formats, column types and missing cells of custom datasets."""

import bz2
import gzip
import lzma
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from npt.data.custom.file import shape_of
from npt.errors import UserError
from tests.npt.data.custom.tables import KINDS, ROWS, frame, kinds, read, write

ARFF = """@RELATION houses
@ATTRIBUTE size REAL
@ATTRIBUTE colour {red,blue,green}
@ATTRIBUTE note STRING
@ATTRIBUTE price NUMERIC
@DATA
1.5,red,'a b',10
?,blue,'a b',11
2.5,?,'c',12
3.5,red,'c',13.5
"""


def test_every_format_gives_the_same_table(tmp_path: Path) -> None:
    data = frame()
    text = data.to_csv(index=False)
    data.to_parquet(tmp_path / "my.parquet")
    data.to_excel(tmp_path / "my.xlsx", index=False)
    write(tmp_path, text)
    write(tmp_path, data.to_csv(sep="\t", index=False), "my.tsv")
    write(tmp_path, data.to_csv(sep=";", index=False), "semicolons.csv")
    write(tmp_path, "\ufeff" + text.replace("\n", "\r\n"), "windows.csv")
    write(tmp_path, "\n" + text, "my.txt")
    for ending, library in ((".xz", lzma), (".bz2", bz2), (".GZ", gzip)):
        (tmp_path / f"my.data{ending}").write_bytes(library.compress(text.encode()))
    excel = text.replace(",", "\t").encode("utf-16")  # its "Unicode text"
    (tmp_path / "excel.txt").write_bytes(excel)
    first, *others = [read(path).table for path in sorted(tmp_path.iterdir())]
    assert len(others) == 10
    assert kinds(first) == KINDS
    assert first.columns[2].levels == ("blue", "red")
    assert {level.lower() for level in first.columns[3].levels} == {"true", "false"}
    assert first.numbers(4)[0] == pd.Timestamp("2001-02-03").timestamp()
    for other in others:
        assert other.columns == first.columns
        assert np.array_equal(other.values, first.values)


def test_arff_with_classes_text_and_missing_cells(tmp_path: Path) -> None:
    table = read(write(tmp_path, ARFF, "my.arff"), test_rows=1).table
    is_category = [kind == "categorical" for kind in kinds(table).values()]
    assert is_category == [False, True, True, False]
    expected = [[1.5, 1, 0, 10], [np.nan, 0, 0, 11], [2.5, np.nan, 1, 12], [3.5, 1, 1, 13.5]]
    assert np.array_equal(table.values, expected, equal_nan=True)


def test_types_can_be_declared_and_are_described(tmp_path: Path) -> None:
    data = frame().astype({"rooms": object})
    data.loc[3, "rooms"] = "?"
    data["code"] = [f"c{i}" for i in range(ROWS)]
    custom = read(write(tmp_path, data), categorical="rooms", drop=["code"], missing="?")
    assert kinds(custom.table) == {**KINDS, "rooms": "categorical"}
    assert np.isnan(custom.table.numbers(1)).nonzero()[0].tolist() == [3]
    levels = {str(rooms) for rooms in data["rooms"]} - {"?"}
    assert custom.table.columns[1].levels == tuple(sorted(levels))
    description = "\n".join(custom.facts["description"])
    assert "continuous: size, built" in description
    assert "missing cells: rooms 1" in description
    assert "left out: code" in description


def test_identifiers_keep_their_digits(tmp_path: Path) -> None:
    data = frame(100).assign(
        person=[f"{10**19 + i // 5}{' ' * (i % 2)}" for i in range(100)],
        area=[f"0{i % 9}" if i % 2 else f"{i % 9}" for i in range(100)],
    )
    path = write(tmp_path, data)
    custom = read(path, group="person", folds=5, categorical=["area"])
    assert custom.table.columns[6].levels == tuple(sorted(set(data["area"])))
    assert np.array_equal(custom.table.groups, np.arange(100) // 5)
    for split in custom.splits.values():
        parts = (split.train, split.validation, split.test)
        assert sum(data["person"].iloc[rows].str.strip().nunique() for rows in parts) == 20


def test_indices_and_empty_columns_are_no_features(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    frame().sort_values("price").to_parquet(path)
    custom = read(path)
    assert kinds(custom.table) == KINDS
    assert "left out: __index_level_0__" in custom.facts["description"]
    unnamed = write(tmp_path, frame().to_csv(index=True))
    assert kinds(read(unnamed, drop=[""]).table) == KINDS
    spaced = frame().rename(columns={"size": " size "}).assign(**{" ": np.nan})
    assert kinds(read(write(tmp_path, spaced)).table) == KINDS


def test_empty_and_constant_columns_are_read(tmp_path: Path) -> None:
    data = frame().assign(nothing=np.nan, always="a", seven=7, empty=np.nan)
    data["price"] = data["price"].where(data.index % 5 > 0)
    custom = read(write(tmp_path, data), categorical=["empty"])
    assert kinds(custom.table)["nothing"] == "continuous"
    assert kinds(custom.table)["empty"] == "continuous"
    assert custom.table.columns[7].levels == ("a",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my.csv", b""),
        ("my.csv", b"\n\n"),
        ("my.csv", b"a,b\n"),
        ("my.csv", b"\0\1\2"),
        ("my.csv", b"a,b\n1,\xff\xfe\n2,\xff\xfe\n"),
        ("my.csv", b"caf\xe9,b\n1,1\n2,2\n"),
        ("my.csv", b"a,b,c\n1,2\n"),
        ("my.csv.gz", b"no"),
        ("my.parquet", b"PAR1 no"),
        ("my.arff", b"@no\n"),
        ("my.xlsx", b"no"),
        ("my.xls", b"no"),
        ("my.docx", b"x"),
    ],
)
def test_a_file_that_is_not_a_table(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read(path, target="b")
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_million_columns_are_refused_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, ",".join(map(str, range(1_000_000))) + "\n")
    with pytest.raises(UserError, match="10,000"):
        read(path)


@pytest.mark.parametrize("cell", [["a"], b"\xe9"])
def test_parquet_columns_of_other_types_are_refused(cell: object, tmp_path: Path) -> None:
    frame().assign(tags=[cell] * ROWS).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(UserError, match="'tags'"):
        read(tmp_path / "my.parquet")


def test_numbers_that_mark_missing_cells_may_be_decimals_or_categories(tmp_path: Path) -> None:
    sizes = [Decimal(-999), *map(Decimal, range(1, ROWS))]
    rooms = pd.Categorical([-999, *[row % 3 for row in range(1, ROWS)]])
    data = frame().assign(size=sizes, rooms=rooms)
    data.to_parquet(tmp_path / "my.parquet")
    table = read(tmp_path / "my.parquet", missing=-999).table
    names = [column.name for column in table.columns]
    for name in ("size", "rooms"):
        assert np.flatnonzero(np.isnan(table.numbers(names.index(name)))).tolist() == [0]


def test_an_archive_of_one_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "my.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("my.csv", frame().to_csv(index=False))
    assert kinds(read(path).table) == KINDS
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.csv", "")
    assert shape_of(str(path)) is None
    with pytest.raises(UserError, match="holds 2 files"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("my.csv", "x,y")
    content = bytearray(path.read_bytes())
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match="encrypted"):
        read(path)


def test_blank_lines_of_spreadsheets_are_no_rows(tmp_path: Path) -> None:
    data = frame()
    lines = data.to_csv(index=False).splitlines(keepends=True)
    blank = "," * (len(KINDS) - 1) + "\n"
    path = write(tmp_path, "".join([blank, *lines[:9], blank, *lines[9:], blank, blank]))
    assert read(path).table.truth.tolist() == data["price"].tolist()
    excel = tmp_path / "my.xlsx"
    pd.concat([data[:9], pd.DataFrame([{}]), data[9:]]).to_excel(excel, index=False)
    assert read(excel).table.truth.tolist() == data["price"].tolist()


def test_runs_of_blanks_separate(tmp_path: Path) -> None:
    lines = ["  size   price", *(f" {i % 7}.5    {i}.25  " for i in range(40))]
    path = write(tmp_path, "\n".join(lines), "my.dat")
    for separator in ("", " "):
        table = read(path, separator=separator).table
        assert kinds(table) == {"size": "continuous", "price": "continuous"}
        assert table.truth[3] == 3.25


def test_a_file_without_a_header_needs_names(tmp_path: Path) -> None:
    path = write(tmp_path, frame().to_csv(index=False, header=False))
    with pytest.raises(UserError, match=r"a file without a header needs .* `names`"):
        read(path)
    assert kinds(read(path, names=list(KINDS)).table) == KINDS
    with pytest.raises(UserError, match="names: 2 names for 6 columns"):
        read(path, names=["a", "price"])


def test_decimal_commas_can_be_declared(tmp_path: Path) -> None:
    path = write(tmp_path, frame().to_csv(index=False, sep=";", decimal=","))
    table = read(path, decimal=",").table
    assert table.truth.tolist() == frame()["price"].tolist()
    with pytest.raises(UserError, match="decimal sign of `decimal`"):
        read(path)
    points = write(tmp_path, frame().to_csv(index=False), "points.csv")
    with pytest.raises(UserError, match="decimal sign of `decimal`"):
        read(points, decimal=",")


def test_doubts_are_described(tmp_path: Path) -> None:
    with_comma = {"a,b": [i % 3 for i in range(ROWS)]}
    data = frame().assign(id=range(ROWS), block=[i // 4 for i in range(ROWS)], **with_comma)
    path = write(tmp_path, pd.concat([data, data[:2]]))
    text = "\n".join(read(path, drop=["rooms"]).facts["description"])
    assert "'a,b (3)'" in text
    assert "rows that equal another one: 4" in text
    assert "identifiers" not in text  # two are repeated
    grouped = "\n".join(read(path, drop=["rooms"], group="id").facts["description"])
    assert f"kept together: rows of equal id ({ROWS} groups)" in grouped
    assert "equal another" not in grouped
    assert "`group`: id, block" in "\n".join(read(write(tmp_path, data)).facts["description"])


def test_a_total_in_the_last_row_is_doubted(tmp_path: Path) -> None:
    data = frame()
    assert "most of the target" not in str(read(write(tmp_path, data)).facts["description"])
    total = data[-1:].assign(price=data["price"].sum())
    path = write(tmp_path, pd.concat([data, total]))
    assert "in row 41" in "\n".join(read(path).facts["description"])


@pytest.mark.parametrize("name", ["my.csv", "my.csv.gz", "my.tsv", "my.parquet"])
def test_rows_are_counted(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix == ".parquet":
        frame().to_parquet(path)
    else:
        frame().to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    assert shape_of(str(path)) == frame().shape


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"\n\n"])
def test_what_is_no_table_has_no_shape(content: bytes, tmp_path: Path) -> None:
    for name in ("mine.csv.gz", "mine.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
        assert shape_of(str(path)) is None
    assert shape_of(str(tmp_path / "none.csv")) is None
