"""Read the columns of a CSV, Parquet or ARFF file, or of an OpenML dataset."""

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

from npt.data.custom.columns import MISSING, exact_frame, plain_columns
from npt.data.source import sha256_of
from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAX_COLUMNS = 10_000
HEADER_BYTES = 4 << 20
SEPARATORS = ",;\t|"
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
ENDINGS = (*CSV_ENDINGS, ".parquet", ".arff")
ARFF_NUMBERS = ("NUMERIC", "REAL", "INTEGER")


@dataclass(frozen=True)
class Content:
    """Columns of a file.

    Attributes:
        frame: Numbers, booleans and text.
        sha256: Digest of the file, or of the content of an OpenML dataset.
        dates: Columns of dates, which are seconds in the frame.
        index: Columns that pandas stored as an index, which the frame lacks.
        categories: Columns that the format declares as categories.
    """

    frame: pd.DataFrame
    sha256: str
    dates: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


def file_at(path: str) -> Path | None:
    """The file of a path, where `~` is the home folder; None if there is none."""
    try:
        file = Path(path).expanduser()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def read_file(
    path: str,
    *,
    separator: str = "",
    missing: Sequence[str] = (),
    as_text: Collection[str] = (),
) -> Content:
    """Columns of a file.

    Args:
        path: File with one of the `ENDINGS`.
        separator: Separator of a .csv file; inferred from its header by default.
        missing: Cells to read as missing, in addition to the usual ones.
        as_text: Columns to read as text, even if they hold numbers.

    Raises:
        UserError: What is wrong, without the name of the file.
    """
    file = file_at(path)
    if file is None:
        raise UserError(f"there is no such file (searched in {Path.cwd()})")
    if file.stat().st_size == 0:
        raise UserError("is empty")
    name = file.name.lower()
    index: tuple[str, ...] = ()
    if name.endswith(".parquet"):
        table, index = _from_parquet(file)
    elif name.endswith(".arff"):
        table = _from_arff(file)
    elif name.endswith(CSV_ENDINGS):
        default = "\t" if ".tsv" in name else ""
        missing = (*MISSING, *missing)
        table = _from_csv(file, separator or default, missing, as_text)
    else:
        raise UserError(f"has none of the endings {', '.join(ENDINGS)}")
    return _content(table, sha256_of(file), missing, as_text, index)


def read_openml(
    number: int,
    downloads: Path,
    *,
    missing: Sequence[str] = (),
    as_text: Collection[str] = (),
) -> Content:
    """Columns of a dataset of OpenML, which is kept among the downloads.

    Raises:
        UserError: There is no such dataset, or OpenML cannot be reached.
    """
    from http.client import HTTPException
    from urllib.error import URLError

    import pandas as pd
    import pyarrow as pa
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
        reason = getattr(error, "reason", error)
        raise UserError(f"cannot be fetched ({reason}), and is not in {home}") from None
    except (ValueError, OSError, HTTPException) as error:
        raise UserError(f"cannot be fetched: {_first_line(error)}") from None
    hashes = pd.util.hash_pandas_object(fetched.frame, index=False)
    digest = hashlib.sha256(hashes.to_numpy().tobytes()).hexdigest()
    table = pa.Table.from_pandas(fetched.frame, preserve_index=False)
    return _content(table, digest, missing, as_text)


def _content(
    table: pa.Table,
    sha256: str,
    missing: Sequence[str],
    as_text: Collection[str],
    index: tuple[str, ...] = (),
) -> Content:
    import pyarrow as pa

    _require_names(table.column_names)
    if not table.num_rows:
        raise UserError("has a header and no rows")
    categories = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    table, dates = plain_columns(table, missing, {*as_text, *categories})
    return Content(exact_frame(table), sha256, dates, index, tuple(categories))


def _require_names(names: Sequence[str]) -> None:
    """Column names are few enough, printable and unique."""
    if len(names) > MAX_COLUMNS:
        raise UserError(f"has {len(names):,} columns; at most {MAX_COLUMNS:,} are allowed")
    numbers: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name in numbers:
            raise UserError(f"columns {numbers[name]} and {number} are both named {name!r}")
        if not name.isprintable():
            raise UserError(f"column {number} has a line break or the like in its name {name!r}")
        numbers[name] = number


def _from_csv(
    path: Path, separator: str, missing: Sequence[str], as_text: Collection[str]
) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    header = _header(path)
    if not separator:
        unquoted = re.sub(r'"[^"]*"', "", header)
        separator = max(SEPARATORS, key=unquoted.count)
    columns = header.count(separator) + 1
    if columns > MAX_COLUMNS:
        raise UserError(f"has {columns:,} columns or more; at most {MAX_COLUMNS:,} are allowed")
    try:
        return csv.read_csv(
            str(path),
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                null_values=missing,
                column_types=dict.fromkeys(as_text, pa.string()),
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(
            f"cannot be read as UTF-8 text separated by {separator!r}: {_first_line(error)}"
        ) from None


def _header(path: Path) -> str:
    """First line of a CSV file, or the beginning of a very long one."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as stream:
            line = stream.readline(HEADER_BYTES).partition(b"\r")[0]
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot be read: {_first_line(error)}") from None
    if not line.strip():
        raise UserError("has an empty line instead of a header")
    if b"\0" in line:
        raise UserError("is not text (it has zero bytes)")
    truncated = len(line) == HEADER_BYTES
    try:
        return line.decode("utf-8-sig", errors="replace" if truncated else "strict").rstrip("\n")
    except UnicodeDecodeError:
        raise UserError("has a header that is not UTF-8; save the file as UTF-8") from None


def _from_parquet(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """The table without the index that pandas stored in it, and the index's columns."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        _require_names(file.schema_arrow.names)
        table = file.read(use_threads=False)
        stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"cannot be read as Parquet: {_first_line(error)}") from None
    index = [name for name in stored if isinstance(name, str) and name in table.column_names]
    return table.drop_columns(index), tuple(index)


def _from_arff(path: Path) -> pa.Table:
    import arff
    import pyarrow as pa

    try:
        content = arff.loads(path.read_text(encoding="utf-8-sig"))
    except (arff.ArffException, ValueError) as error:
        raise UserError(f"cannot be read as ARFF: {_first_line(error)}") from None
    names = [name for name, _ in content["attributes"]]
    _require_names(names)
    if not content["data"]:
        raise UserError("has a header and no rows")
    arrays = []
    columns = zip(*content["data"], strict=True)
    for (_, kind), cells in zip(content["attributes"], columns, strict=True):
        array = pa.array(cells, pa.float64() if kind in ARFF_NUMBERS else pa.string())
        declared_classes = isinstance(kind, list)
        arrays.append(array.dictionary_encode() if declared_classes else array)
    return pa.table(arrays, names=names)


def _first_line(error: BaseException) -> str:
    """Beginning of an error's text, without the rows that Arrow quotes."""
    text, _, _ = str(error).partition("Row:")
    return " ".join(text.split())[:200]
