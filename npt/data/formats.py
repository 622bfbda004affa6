"""Read a table of the user's own from CSV, Parquet, ARFF or OpenML into columns of numbers, booleans and text."""

from __future__ import annotations

import gzip
import hashlib
import re
import warnings
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_COLUMNS = 10_000
HEADER_BYTES = 4 << 20
SEPARATORS = ",;\t|"
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "<NA>")
ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".arff")
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Content:
    """The columns of a file. `dates` have become seconds, an `index` that pandas stored is left out, and `categories` are those
    columns that the format itself calls so."""

    frame: pd.DataFrame
    sha256: str
    dates: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


def file_at(path: str) -> Path | None:
    """The file of a path, if there is one."""
    try:
        found = Path(path).expanduser()
        return found if found.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def read_file(
    path: str, separator: str = "", missing: Sequence[str] = (), as_text: Collection[str] = ()
) -> Content:
    """The columns of a file; those named in `as_text` are text in CSV, whatever they look like.

    Raises:
        UserError: what is wrong, without the file's name.
    """
    file = file_at(path)
    if file is None:
        raise UserError(f"there is no such file (looked in {Path.cwd()})")
    if file.stat().st_size == 0:
        raise UserError("is empty")
    with file.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    name, index = file.name.lower(), ()
    if name.endswith(".parquet"):
        table, index = _from_parquet(file)
    elif name.endswith(".arff"):
        table = _from_arff(file)
    elif name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        table = _from_csv(file, separator or ("\t" if ".tsv" in name else ""), as_text)
        missing = (*MISSING, *missing)
    else:
        raise UserError(f"is none of the formats that are read: {', '.join(ENDINGS)}")
    _check_columns(table.column_names)
    if not table.num_rows:
        raise UserError("has a header and no rows")
    categories = tuple(
        field.name for field in table.schema if str(field.type).startswith("dictionary")
    )
    table, dates = _plain(table, missing)
    return Content(table.to_pandas(ignore_metadata=True), sha256, dates, index, categories)


def read_openml(number: int, downloads: Path) -> Content:
    """A dataset of OpenML, with a digest of its content; it stays among the downloads.

    Raises:
        UserError: there is no such dataset, or it cannot be reached.
    """
    from http.client import HTTPException
    from urllib.error import URLError

    import pandas as pd
    from sklearn.datasets import fetch_openml

    home = downloads / "openml"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fetched: Any = fetch_openml(
                data_id=number,
                data_home=home,
                as_frame=True,
                target_column=None,
                parser="liac-arff",
                n_retries=1,
            )
    except URLError as error:
        raise UserError(
            f"cannot be fetched ({getattr(error, 'reason', error)}), and is not in {home}"
        ) from None
    except (ValueError, OSError, HTTPException) as error:
        raise UserError(f"cannot be fetched: {_line(error)}") from None
    frame = fetched.frame
    _check_columns([str(name) for name in frame.columns])
    digest = hashlib.sha256(
        pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    ).hexdigest()
    return Content(
        frame,
        digest,
        categories=tuple(name for name in frame.columns if frame[name].dtype == "category"),
    )


def _check_columns(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise UserError(f"has {len(names):,} columns; at most {MOST_COLUMNS:,} are allowed")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name in seen:
            raise UserError(f"columns {seen[name]} and {place} are both named {name!r}")
        if not name.isprintable():
            raise UserError(f"column {place} has a name with a line break or the like: {name!r}")
        seen[name] = place


def _plain(table: pa.Table, missing: Sequence[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """Columns of numbers, booleans and trimmed text, in which cells that mean missing are so; dates become seconds.

    Raises:
        UserError: a column holds something else.
    """
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are made when it is loaded
    dates = []
    for j, field in enumerate(table.schema):
        column, kind = table.column(j), field.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if pa.types.is_date(kind):
            column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
        if pa.types.is_timestamp(kind):
            dates.append(field.name)
            column = pc.divide(
                column.cast(pa.int64()).cast(pa.float64(), safe=False), float(UNITS[kind.unit])
            )
        elif pa.types.is_decimal(kind) or pa.types.is_floating(kind):
            column = column.cast(pa.float64())
        elif (
            pa.types.is_string(kind)
            or pa.types.is_large_string(kind)
            or pa.types.is_string_view(kind)
        ):
            column = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
            column = (
                pc.if_else(pc.is_in(column, pa.array(missing, pa.large_string())), None, column)
                if missing
                else column
            )
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise UserError(f"column {field.name!r} holds bytes that are not UTF-8 text")
        elif not (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            raise UserError(
                f"column {field.name!r} holds {kind}; numbers, text, booleans and dates are read"
            )
        table = table.set_column(j, field.name, column)
    return table, tuple(dates)


def _from_csv(path: Path, separator: str, as_text: Collection[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    header = _header(path)
    separator = separator or max(SEPARATORS, key=re.sub(r'"[^"]*"', "", header).count)
    columns = header.count(separator) + 1
    if columns > MOST_COLUMNS:
        raise UserError(f"has {columns:,} columns or more; at most {MOST_COLUMNS:,} are allowed")
    try:
        return csv.read_csv(
            str(path),
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                null_values=MISSING, column_types=dict.fromkeys(as_text, pa.string())
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(
            f"cannot be read as UTF-8 text separated by {separator!r}: {_line(error)}"
        ) from None


def _header(path: Path) -> str:
    """The first line, as far as it matters."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as stream:
            line = stream.readline(HEADER_BYTES).partition(b"\r")[0]
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot be read: {_line(error)}") from None
    if not line.strip():
        raise UserError("begins with an empty line where the names of the columns should be")
    if b"\0" in line:
        raise UserError("is not text (it has zero bytes)")
    try:
        return line.decode("utf-8-sig").rstrip("\n")
    except UnicodeDecodeError:
        if len(line) == HEADER_BYTES:
            return line.decode("utf-8-sig", errors="replace")
        raise UserError("its header is not UTF-8; save the file as UTF-8") from None


def _from_parquet(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """The table without the index that pandas stored in it, and the index's columns."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        opened = parquet.ParquetFile(path)
        _check_columns(opened.schema_arrow.names)
        table = opened.read(use_threads=False)
        stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"cannot be read as Parquet: {_line(error)}") from None
    index = tuple(name for name in stored if isinstance(name, str) and name in table.column_names)
    return table.drop_columns(list(index)), index


def _from_arff(path: Path) -> pa.Table:
    import arff
    import pyarrow as pa

    try:
        text = path.read_text(encoding="utf-8-sig")
        try:
            content = arff.loads(text)
        except arff.BadLayout:
            content = _dense(arff.loads(text, return_type=arff.LOD))
    except (arff.ArffException, ValueError) as error:
        raise UserError(f"cannot be read as ARFF: {_line(error)}") from None
    _check_columns([name for name, _ in content["attributes"]])
    columns = list(zip(*content["data"], strict=True)) or [()] * len(content["attributes"])
    arrays = [
        pa.array(cells, pa.float64() if kind in ("NUMERIC", "REAL", "INTEGER") else pa.string())
        for cells, (_, kind) in zip(columns, content["attributes"], strict=True)
    ]
    named = [isinstance(kind, list) for _, kind in content["attributes"]]
    arrays = [
        array.dictionary_encode() if nominal else array
        for array, nominal in zip(arrays, named, strict=True)
    ]
    return pa.table(arrays, names=[name for name, _ in content["attributes"]])


def _dense(content: dict[str, Any]) -> dict[str, Any]:
    """Rows of a sparse ARFF file with the cells that it leaves out: zero, or the first of the named values."""
    absent = [0.0 if isinstance(kind, str) else kind[0] for _, kind in content["attributes"]]
    data = [[row.get(j, default) for j, default in enumerate(absent)] for row in content["data"]]
    return {**content, "data": data}


def _line(error: BaseException) -> str:
    """The beginning of an error's text, in one line."""
    return " ".join(str(error).partition("Row:")[0].split())[:200]
