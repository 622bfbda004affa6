"""Tables of the user's own: what is inferred, what is refused with one line, and what still works."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.data import formats
from npt.data.custom import CustomDataset, read_custom
from npt.data.splits import splits
from npt.interface import UserError
from workflow.config.custom_datasets import custom_dataset, custom_datasets
from npt.data.preparation import prepare_custom

ROWS = 40


def frame(rows: int = ROWS) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": generator.normal(100, 20, rows).round(2),
            "rooms": generator.integers(1, 7, rows),
            "colour": generator.choice(["red", "blue"], rows),
            "garden": generator.random(rows) < 0.5,
            "built": pd.date_range("2001-02-03", periods=rows, freq="D"),
            "price": generator.normal(300, 50, rows).round(1),
        }
    )


def own(
    path: Path, target: str = "price", task: str = "regression", **changes: Any
) -> CustomDataset:
    return CustomDataset("mine", target, task, str(path), **changes)  # type: ignore[arg-type]


def csv(folder: Path, data: pd.DataFrame | str, name: str = "my.csv") -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else data.to_csv(index=False))
    return path


def kinds(table: Any) -> dict[str, str]:
    return {column.name: column.kind for column in table.columns}


EXPECTED = {
    "size": "continuous", "rooms": "continuous", "colour": "categorical", "garden": "categorical", "built": "continuous",
    "price": "continuous",
}  # fmt: skip


def test_kinds_are_inferred_and_every_format_gives_the_same_table(tmp_path: Path) -> None:
    data = frame()
    data.to_parquet(tmp_path / "my.parquet")
    data.to_csv(tmp_path / "my.tsv", sep="\t", index=False)
    (tmp_path / "my.csv.gz").write_bytes(gzip.compress(data.to_csv(index=False).encode()))
    paths = [
        csv(tmp_path, data),
        tmp_path / "my.parquet",
        tmp_path / "my.tsv",
        tmp_path / "my.csv.gz",
    ]
    paths.append(csv(tmp_path, data.to_csv(index=False, sep=";"), "semicolons.csv"))
    paths.append(
        csv(tmp_path, "\ufeff" + data.to_csv(index=False, lineterminator="\r\n"), "windows.csv")
    )
    found = [read_custom(own(path), tmp_path) for path in paths]
    first = found[0].table
    assert kinds(first) == EXPECTED
    assert first.columns[2].levels == ("blue", "red")
    assert {level.lower() for level in first.columns[3].levels} == {"true", "false"}
    assert first.numbers(4)[0] == pd.Timestamp("2001-02-03").timestamp()
    for one in found[1:]:
        assert one.table.columns == first.columns
        assert np.array_equal(one.table.values, first.values)


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
SPARSE = """@RELATION houses
@ATTRIBUTE size REAL
@ATTRIBUTE colour {red,blue}
@ATTRIBUTE price NUMERIC
@DATA
{0 1.5, 2 10}
{1 blue, 2 11}
{0 2.5, 2 12}
"""


def test_arff_with_named_values_text_and_missing_cells(tmp_path: Path) -> None:
    table = read_custom(own(csv(tmp_path, ARFF, "my.arff")), tmp_path).table
    assert kinds(table) == {
        "size": "continuous",
        "colour": "categorical",
        "note": "categorical",
        "price": "continuous",
    }
    expected = [[1.5, 1, 0, 10], [np.nan, 0, 0, 11], [2.5, np.nan, 1, 12], [3.5, 1, 1, 13.5]]
    assert np.array_equal(table.values, expected, equal_nan=True)
    sparse = read_custom(own(csv(tmp_path, SPARSE, "sparse.arff")), tmp_path).table
    assert sparse.values.tolist() == [[1.5, 1, 10], [0, 0, 11], [2.5, 1, 12]]


def test_kinds_can_be_overridden_and_more_cells_called_missing(tmp_path: Path) -> None:
    data = frame().astype({"rooms": object})
    data.loc[3, "rooms"] = "?"
    path = csv(tmp_path, data.assign(code=[f"c{i}" for i in range(ROWS)]))
    found = read_custom(own(path, categorical=("rooms",), drop=("code",), missing=("?",)), tmp_path)
    assert kinds(found.table) == {**EXPECTED, "rooms": "categorical"}
    assert np.isnan(found.table.numbers(1)).nonzero()[0].tolist() == [3]
    assert found.table.columns[1].levels == tuple(sorted({str(n) for n in data["rooms"]} - {"?"}))
    text = "\n".join(found.description)
    assert "continuous: size, built" in text
    assert "missing cells: rooms 1" in text
    assert "left out: code" in text


GOOD = frame().to_csv(index=False)
HEADER, BODY = GOOD.split("\n", 1)
PRICES = frame()["price"]


@pytest.mark.parametrize(
    ("content", "changes", "message"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "begins with an empty line"),
        (HEADER + "\n", {}, "has a header and no rows"),
        (
            GOOD,
            {"target": "prise"},
            "target: column 'prise' is unknown; did you mean 'price'\\? it has size, rooms",
        ),
        (GOOD, {"drop": ("x",)}, "drop: column 'x' is unknown"),
        (GOOD, {"drop": ("price",)}, "drop: 'price' is the target already"),
        (
            GOOD,
            {"categorical": ("rooms",), "continuous": ("rooms",)},
            "'rooms' is under `categorical` already",
        ),
        (frame().assign(price=7), {}, "target 'price' has a single value, 7"),
        (frame().assign(price=np.nan), {}, "target 'price' has no known value"),
        (
            frame().assign(y=["a"] * 39 + ["b"]),
            {"target": "y", "task": "classification"},
            "class 'b' has one row",
        ),
        (GOOD.replace("rooms", "size", 1), {}, "columns 1 and 2 are both named 'size'"),
        (
            frame().assign(rooms=["3", "x"] + ["4"] * 38),
            {},
            "mixes numbers and text: 39 of 40 cells are numbers, 'x' in row 2",
        ),
        (
            frame().assign(size=[1.0, np.inf] + [2.0] * 38),
            {},
            "'size' has 1 infinite values, the first in row 2",
        ),
        (frame().assign(price=[1.0, -np.inf] + [2.0] * 38), {}, "'price' has 1 infinite values"),
        (frame().assign(copy=PRICES), {}, "column 'copy' tells the target 'price' in every row"),
        (
            frame(120).assign(id=[f"h{i}" for i in range(120)]),
            {},
            "'id' is text with 120 different values in 120 rows",
        ),
        (GOOD, {"target": "colour"}, "'colour' should hold numbers and has '(red|blue)' in row 1"),
        (GOOD, {"continuous": ("colour",)}, "'colour' should hold numbers"),
        (frame()[["price"]], {}, "has no feature beside the target"),
        (HEADER + "\n1,2\n", {}, "cannot be read as UTF-8 text separated by ','"),
        ("a,b\n1,\xff\0\n", {}, "has no column|unknown|cannot be read"),
        (
            frame(120).assign(price=range(120)),
            {"task": "classification"},
            "120 classes in 120 rows; is the task regression",
        ),
        (
            frame(120).assign(price=[i // 2 for i in range(120)]),
            {"task": "classification"},
            "60 classes in 120 rows; is the task regression",
        ),
        (
            GOOD,
            {"target": "garden", "task": "multiclass"},
            "has 2 classes, which is not multiclass",
        ),
        (GOOD, {"group": "size", "folds": 50}, "40 groups are too few for 50 folds"),
        (GOOD, {"folds": 41}, "40 rows are too few for 41 folds"),
        (GOOD, {"test_rows": 40}, "leaves none of the 40 rows"),
        (
            GOOD,
            {"time": "colour"},
            "'colour' holds '(red|blue)' in row 1, which is no number and no date",
        ),
        (
            frame().assign(group=[None] + ["a", "b", "c"] * 13),
            {"group": "group"},
            "group: 'group' is missing in 1 rows",
        ),
        (frame().assign(when=1), {"time": "when"}, "1 different times among 40 rows are too few"),
    ],
)
def test_bad_tables_are_refused_with_one_line_that_names_the_file(
    content: Any, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = csv(tmp_path, content)
    with pytest.raises(UserError, match=message) as error:
        prepare_custom(own(path, **changes), tmp_path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_ten_million_columns_are_refused_at_once(tmp_path: Path) -> None:
    path = csv(tmp_path, ",".join(map(str, range(10_000_000))) + "\n")
    with pytest.raises(UserError, match="columns or more; at most 10,000 are allowed"):
        read_custom(own(path), tmp_path)


@pytest.mark.parametrize(
    ("name", "content"), [("my.csv", b"\0\1\2"), ("my.parquet", b"PAR1 no"), ("my.arff", b"@no\n"), ("my.csv.gz", b"no"),
                          ("my.docx", b"x"), ("my.csv", b"a,b\n1,\xff\xfe\n2,\xff\xfe\n")],
)  # fmt: skip
def test_files_that_are_no_tables(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as error:
        read_custom(own(tmp_path / name, target="b"), tmp_path)
    assert "\n" not in str(error.value)


def test_nested_parquet_columns_are_refused(tmp_path: Path) -> None:
    frame().assign(tags=[["a"]] * ROWS).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(UserError, match="column 'tags' holds list"):
        read_custom(own(tmp_path / "my.parquet"), tmp_path)


def test_odd_tables_still_work(tmp_path: Path) -> None:
    odd = frame().assign(
        nothing=np.nan,
        always="a",
        seven=7,
        price=lambda data: data["price"].where(data.index % 5 > 0),
    )
    table = prepare_custom(own(csv(tmp_path, odd)), tmp_path).table
    assert kinds(table)["nothing"] == "continuous"
    assert table.columns[7].levels == ("a",)
    one = prepare_custom(own(csv(tmp_path, frame()[["size", "price"]])), tmp_path)
    assert len(one.table.columns) == 2
    few = pd.DataFrame({"x": range(20), "y": [f"class{i // 2}" for i in range(20)]})
    pairs = prepare_custom(own(csv(tmp_path, few), "y", "classification"), tmp_path)
    assert pairs.table.columns[1].size == 10
    assert len(pairs.splits) == 10


def partition(split: Any, rows: int) -> None:
    assert sorted(np.concatenate([split.train, split.validation, split.test]).tolist()) == list(
        range(rows)
    )
    assert min(map(len, (split.train, split.validation, split.test))) > 0


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_rows_of_a_group_are_never_parted(task: str, tmp_path: Path) -> None:
    data = frame(120).assign(person=lambda data: [f"p{i % 17}" for i in data.index])
    block = own(
        csv(tmp_path, data),
        "price" if task == "regression" else "colour",
        task,
        group="person",
        folds=5,
    )
    prepared = prepare_custom(block, tmp_path)
    assert "person" not in kinds(prepared.table)
    tested = np.zeros(120, int)
    for split in prepared.splits.values():
        partition(split, 120)
        people = [
            set(data["person"].iloc[rows]) for rows in (split.train, split.validation, split.test)
        ]
        assert not people[0] & people[1] and not people[0] & people[2] and not people[1] & people[2]
        tested[split.test] += 1
    assert (tested == 1).all()


def test_the_last_rows_in_time_are_tested(tmp_path: Path) -> None:
    data = frame(120).sample(frac=1, random_state=0)
    data["built"] = data["built"].dt.strftime("%d %b %Y")
    prepared = prepare_custom(
        own(csv(tmp_path, data), time="built", folds=5, validation_share=0.1), tmp_path
    )
    assert list(prepared.splits) == [0]
    split, days = prepared.splits[0], pd.to_datetime(data["built"]).to_numpy()
    partition(split, 120)
    assert [len(split.train), len(split.validation), len(split.test)] == [84, 12, 24]
    assert (
        days[split.train].max()
        < days[split.validation].min()
        <= days[split.validation].max()
        < days[split.test].min()
    )


def test_rows_of_one_time_stay_together(tmp_path: Path) -> None:
    data = frame(100).assign(year=[2000 + i // 30 for i in range(100)])
    split = prepare_custom(own(csv(tmp_path, data), time="year", folds=5), tmp_path).splits[0]
    years = [set(data["year"].iloc[rows]) for rows in (split.train, split.validation, split.test)]
    assert years == [{2000, 2001}, {2002}, {2003}]


def test_a_fixed_test_set(tmp_path: Path) -> None:
    prepared = prepare_custom(
        own(csv(tmp_path, frame(100)), test_rows=30, validation_share=0.1), tmp_path
    )
    assert prepared.splits[0].test.tolist() == list(range(70, 100))
    assert len(prepared.splits[0].validation) == 7


def test_splits_of_rare_classes_keep_every_row(tmp_path: Path) -> None:
    data = pd.DataFrame({"x": range(60), "y": ["a"] * 50 + ["b"] * 6 + ["c"] * 2 + ["d"] * 2})
    content = read_custom(own(csv(tmp_path, data), "y", "classification"), tmp_path)
    for split in splits(content.table, own(tmp_path, "y", "classification").split_rule):
        partition(split, 60)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"path": "my.csv", "target": "y"},
            "tables.mine.task: is missing; allowed: regression, classification",
        ),
        ({"path": "my.csv", "task": "regression"}, "tables.mine.target: is missing"),
        ({"path": "my.csv", "target": "y", "task": "ranking"}, "tables.mine.task: 'ranking'"),
        (
            {"path": "my.csv", "target": "y", "task": "regression", "flods": 3},
            "'flods' is unknown; did you mean 'folds'",
        ),
        (
            {"target": "y", "task": "regression"},
            "tables.mine.path: give a file, or an OpenML number",
        ),
        ({"path": "my.csv", "openml": 3, "target": "y", "task": "regression"}, "one of the two"),
        (
            {"path": "no.csv", "target": "y", "task": "regression"},
            "tables.mine.path: no.csv: there is no such file",
        ),
        (
            {"path": "my.csv", "target": "y", "task": "regression", "folds": 1},
            "folds: 1 is fewer than two",
        ),
        (
            {"path": "my.csv", "target": "y", "task": "regression", "validation_share": 0.95},
            "leaves no train or no validation",
        ),
        (
            {"path": "my.csv", "target": "y", "task": "regression", "group": "a", "time": "b"},
            "cannot be combined",
        ),
        (
            {"path": "my.csv", "target": "y", "task": "regression", "separator": ", "},
            "is not a single character",
        ),
        ("my.csv", "'my.csv' is not a mapping"),
    ],
)
def test_mistakes_in_the_block(
    block: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    csv(tmp_path, GOOD)
    with pytest.raises(UserError, match=message) as error:
        custom_datasets({"mine": block})
    assert "\n" not in str(error.value)


def test_a_name_that_is_taken_or_none(tmp_path: Path) -> None:
    block = {"path": str(csv(tmp_path, GOOD)), "target": "price", "task": "regression"}
    with pytest.raises(UserError, match="is the name of a dataset that is there already"):
        custom_datasets({"yacht": block})
    with pytest.raises(UserError, match="a table's name is a letter"):
        custom_datasets({"../evil": block})
    assert custom_dataset("mine", {**block, "drop": "size"}, "x").drop == ("size",)


class Reply(io.BytesIO):
    """An answer of OpenML's."""

    def info(self) -> dict[str, str]:
        return {}


def test_openml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    features = [
        {"index": str(j), "name": name, "data_type": kind, "is_target": "false", "is_ignore": "false",
         "is_row_identifier": "false", "number_of_missing_values": "1"}
        for j, (name, kind) in enumerate([("size", "numeric"), ("colour", "nominal"), ("note", "string"), ("price", "numeric")])
    ]  # fmt: skip
    about = {"id": "7", "name": "houses", "version": "1", "format": "ARFF", "file_id": "9", "description": "",
             "status": "active", "url": "https://api.openml.org/data/v1/download/9", "md5_checksum": "x"}  # fmt: skip
    answers = {"json/data/7": {"data_set_description": about}, "features/7": {"data_features": {"feature": features}},
               "qualities/7": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "4"}]}}}  # fmt: skip

    def urlopen(request: Any, *args: Any, **kwargs: Any) -> Reply:
        asked.append(request.full_url)
        found = next(
            (
                json.dumps(answer)
                for ending, answer in answers.items()
                if request.full_url.endswith(ending)
            ),
            ARFF,
        )
        return Reply(found.encode())

    from sklearn.datasets import _openml

    about["md5_checksum"] = hashlib.md5(ARFF.encode()).hexdigest()
    monkeypatch.setattr(_openml, "urlopen", urlopen)
    block = custom_dataset(
        "mine", {"openml": 7, "target": "price", "task": "regression", "folds": 2}, "x"
    )
    first = read_custom(block, tmp_path)
    assert kinds(first.table) == {
        "size": "continuous",
        "colour": "categorical",
        "note": "categorical",
        "price": "continuous",
    }
    assert np.isnan(first.table.values).sum() == 2
    count = len(asked)
    assert count
    again = read_custom(block, tmp_path)
    assert len(asked) == count
    assert (again.sha256, again.table.columns) == (first.sha256, first.table.columns)


def test_openml_out_of_reach_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib.error import URLError

    def fail(*args: Any, **kwargs: Any) -> None:
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", fail)
    with pytest.raises(
        UserError, match=r"OpenML 7: cannot be fetched \(no route\), and is not in .*openml"
    ) as error:
        read_custom(
            custom_dataset("mine", {"openml": 7, "target": "y", "task": "regression"}, "x"),
            tmp_path,
        )
    assert "\n" not in str(error.value)


def test_the_formats_named_are_those_read() -> None:
    assert all(ending.startswith(".") for ending in formats.ENDINGS)
    assert (CustomDataset.__doc__ or "").count(".parquet") == 1


@pytest.mark.parametrize(
    ("content", "changes", "message"),
    [
        (GOOD, {"categorical": ("price",)}, "target: 'price' has its kind from the task"),
        (
            frame().assign(y=["a", "b"] * 20, z=[1, 0] * 20),
            {"target": "y", "task": "classification"},
            "'z' tells the target 'y'",
        ),
        (
            frame().assign(copy=PRICES.where(PRICES.index > 3)),
            {},
            "column 'copy' tells the target 'price'",
        ),
        (
            frame(24).assign(t=[f"{i % 12 + 1:02}/{i // 12 + 1:02}/2001" for i in range(24)]),
            {"time": "t"},
            "can be read as %d/%m/%Y and",
        ),
        (
            frame().assign(x=["1,5", "2,25"] * 20).to_csv(index=False, sep=";"),
            {},
            "'x' holds numbers such as '1,5'",
        ),
        (frame().assign(x=["1,020", "12"] * 20), {}, "'x' holds numbers such as '1,020'"),
        (frame().assign(x=["12%", "7%"] * 20), {}, "'x' holds numbers such as '12%'"),
        (
            frame(100).assign(x=[str(i) if i < 40 else "unknown" for i in range(100)]),
            {},
            "mixes numbers and text: 40 of 100",
        ),
        (frame().to_csv(index=True), {}, "a column has no name, an index"),
        (frame().assign(x=2**60), {}, "'x' has whole numbers beyond 2\\^53"),
        (frame().assign(x=1e200), {}, "'x' has numbers beyond 1e100"),
        (GOOD, {"test_rows": 39}, "validation_share: leaves 0 train rows of the 1"),
        (frame(3), {"folds": 2, "validation_share": 0.45}, "too few|leaves"),
        (frame().assign(g=list("aabb") * 10), {"group": "g", "folds": 2}, "2 groups are too few"),
        (
            frame(100).assign(price=lambda data: data["price"].where(data.index < 80)),
            {"test_rows": 10},
            "test rows of fold 0 have 0",
        ),
        (
            frame(100).assign(price=lambda data: data["price"].where(data.index > 95)),
            {"time": "built"},
            "rows of fold 0 have 0",
        ),
        (GOOD.replace("size", '"si\nze"', 1), {}, "has a name with a line break"),
    ],
)
def test_what_would_be_read_wrongly_is_refused(
    content: Any, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = csv(tmp_path, content)
    with pytest.raises(UserError, match=message) as error:
        prepare_custom(own(path, **changes), tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("way", ["%d/%m/%Y", "%d.%m.%Y", "%Y-%m-%d", "%d %B %Y", "%m/%d/%Y %H:%M"])
def test_dates_are_read_in_the_one_way_that_fits_all(way: str, tmp_path: Path) -> None:
    days = pd.date_range("2001-01-01", periods=100, freq="D")
    data = frame(100).assign(day=days.strftime(way)).sample(frac=1, random_state=0)
    split = prepare_custom(own(csv(tmp_path, data), time="day", folds=5), tmp_path).splits[0]
    assert sorted(data.index[split.test]) == list(range(80, 100))


def test_far_dates_and_time_zones(tmp_path: Path) -> None:
    data = frame().assign(until=["9999-12-31"] * 20 + ["2001-01-01"] * 20)
    assert read_custom(own(csv(tmp_path, data)), tmp_path).table.numbers(6)[0] == 253402214400
    zoned = frame().assign(built=lambda data: data["built"].dt.tz_localize("Asia/Tokyo"))
    zoned.to_parquet(tmp_path / "my.parquet")
    first = read_custom(own(tmp_path / "my.parquet"), tmp_path).table.numbers(4)[0]
    assert first == pd.Timestamp("2001-02-03", tz="Asia/Tokyo").timestamp()


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    for content in ("a,b,c\ncaf\xe9,1,2\nx,2,3\n", "caf\xe9,b,c\n1,1,2\n2,2,3\n"):
        (tmp_path / "my.csv").write_bytes(content.encode("latin-1"))
        with pytest.raises(UserError, match="not UTF-8"):
            read_custom(own(tmp_path / "my.csv", target="b"), tmp_path)
    frame().assign(x=[b"\xe9"] * ROWS).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(UserError, match="column 'x' holds bytes that are not UTF-8"):
        read_custom(own(tmp_path / "my.parquet"), tmp_path)


def test_identifiers_of_groups_and_classes_stay_as_they_are_written(tmp_path: Path) -> None:
    data = frame(100).assign(
        person=[f"{10**19 + i // 5}" for i in range(100)],
        area=[f"0{i % 9}" if i % 2 else f"{i % 9}" for i in range(100)],
    )
    path = csv(
        tmp_path,
        data.assign(person=lambda d: [p + " " * (i % 2) for i, p in enumerate(d["person"])]),
    )
    prepared = prepare_custom(own(path, group="person", folds=5, categorical=("area",)), tmp_path)
    assert prepared.table.columns[6].levels == tuple(sorted(set(data["area"])))
    for split in prepared.splits.values():
        people = [
            set(data["person"].iloc[rows]) for rows in (split.train, split.validation, split.test)
        ]
        assert sum(map(len, people)) == 20
        assert abs(len(split.validation) - 20) <= 5
    grown = csv(tmp_path, frame(100).assign(person=[0] * 50 + list(range(1, 51))), "grown.csv")
    sizes = [
        len(split.validation)
        for split in prepare_custom(own(grown, group="person", folds=5), tmp_path).splits.values()
    ]
    assert max(sizes) <= 25


def test_levels_that_are_numbers_sort_as_numbers(tmp_path: Path) -> None:
    data = frame().assign(zone=[i % 12 for i in range(ROWS)])
    column = read_custom(own(csv(tmp_path, data), categorical=("zone",)), tmp_path).table.columns[6]
    assert column.levels == tuple(str(level) for level in range(12))


def test_an_index_that_pandas_stored_is_no_feature(tmp_path: Path) -> None:
    frame().sort_values("price").to_parquet(tmp_path / "my.parquet")
    found = read_custom(own(tmp_path / "my.parquet"), tmp_path)
    assert kinds(found.table) == EXPECTED
    assert "left out: __index_level_0__" in found.description
    dropped = read_custom(own(csv(tmp_path, frame().to_csv(index=True)), drop=("",)), tmp_path)
    assert kinds(dropped.table) == EXPECTED


def test_cells_called_missing_are_so_in_every_format(tmp_path: Path) -> None:
    frame().assign(colour=["?", "red", "blue", " red "] * 10).to_parquet(tmp_path / "my.parquet")
    table = read_custom(own(tmp_path / "my.parquet", missing=("?",)), tmp_path).table
    assert table.columns[2].levels == ("blue", "red")
    assert np.isnan(table.numbers(2)).sum() == 10


def test_every_fold_has_known_targets_where_most_are_missing(tmp_path: Path) -> None:
    data = frame(100).assign(price=lambda data: data["price"].where(data.index % 5 == 0))
    prepared = prepare_custom(own(csv(tmp_path, data), folds=5), tmp_path)
    truth = prepared.table.truth
    assert all((~np.isnan(truth[split.test])).sum() == 4 for split in prepared.splits.values())


def test_a_column_without_a_cell_that_is_called_categorical(tmp_path: Path) -> None:
    table = read_custom(
        own(csv(tmp_path, frame().assign(x=np.nan)), categorical=("x",)), tmp_path
    ).table
    assert kinds(table)["x"] == "continuous"
