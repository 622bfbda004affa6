"""Read a table of the user's own from CSV, Parquet, ARFF or OpenML into a frame of numbers, text and dates."""

from __future__ import annotations

import gzip
import hashlib
import warnings
from collections.abc import Sequence
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


def read_table(
    path: str, openml: int | None, separator: str, missing: Sequence[str], downloads: Path
) -> tuple[pd.DataFrame, str]:
    """The columns of a file, or of an OpenML dataset, and the sha256 of the content.

    Raises:
        UserError: what is wrong, without the file's name.
    """
    if openml is not None:
        return from_openml(openml, downloads)
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError("is a folder, not a file" if file.is_dir() else f"there is no such file (looked in {Path.cwd()})")
    if file.stat().st_size == 0:
        raise UserError("is empty")
    with file.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    name = file.name.lower()
    if name.endswith(".parquet"):
        table = _from_parquet(file)
    elif name.endswith(".arff"):
        table = _from_arff(file)
    elif name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        table = _from_csv(file, separator or ("\t" if ".tsv" in name else ""), missing)
    else:
        raise UserError(f"is none of the formats that are read: {', '.join(ENDINGS)}")
    _check_columns(table.column_names)
    if not table.num_rows:
        raise UserError("has a header and no rows")
    return table.to_pandas(date_as_object=False, strings_to_categorical=False, ignore_metadata=True), sha256


def _check_columns(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise UserError(f"has {len(names):,} columns; at most {MOST_COLUMNS:,} are allowed")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name in seen:
            raise UserError(f"columns {seen[name]} and {place} are both named {name!r}")
        seen[name] = place


def _from_csv(path: Path, separator: str, missing: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    header = _header(path)
    separator = separator or max(SEPARATORS, key=header.count)
    columns = header.count(separator) + 1
    if columns > MOST_COLUMNS:
        raise UserError(f"has {columns:,} columns or more; at most {MOST_COLUMNS:,} are allowed")
    try:
        return csv.read_csv(
            str(path),
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(null_values=[*MISSING, *missing], strings_can_be_null=True, quoted_strings_can_be_null=True),
        )
    except pa.ArrowInvalid as error:
        message = " ".join(str(error).partition("Row:")[0].split())
        raise UserError(f"cannot be read as text separated by {separator!r}: {message[:200]}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {str(error)[:200]}") from None


def _header(path: Path) -> str:
    """The first line, as far as it matters."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as stream:
            line = stream.readline(HEADER_BYTES)
    except (OSError, EOFError) as error:
        raise UserError(f"cannot be read: {error}") from None
    if not line.strip():
        raise UserError("begins with an empty line where the names of the columns should be")
    if b"\0" in line:
        raise UserError("is not text (it has zero bytes)")
    return line.decode("utf-8-sig", errors="replace").rstrip("\r\n")


def _from_parquet(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        opened = parquet.ParquetFile(path)
        _check_columns(opened.schema_arrow.names)
        table = opened.read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"cannot be read as Parquet: {' '.join(str(error).split())[:200]}") from None
    for j, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(j, field.name, table.column(j).cast(pa.float64()))
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            raise UserError(f"column {field.name!r} holds {field.type}; numbers, text, booleans and dates are read")
    return table


def _from_arff(path: Path) -> pa.Table:
    import arff
    import pyarrow as pa

    try:
        text = path.read_text(encoding="utf-8-sig")
        try:
            content = arff.loads(text)
        except arff.BadLayout:
            content = _dense(arff.loads(text, return_type=arff.LOD))
    except (arff.ArffException, UnicodeDecodeError, ValueError) as error:
        raise UserError(f"cannot be read as ARFF: {' '.join(str(error).split())[:200]}") from None
    _check_columns([name for name, _ in content["attributes"]])
    columns = list(zip(*content["data"], strict=True)) or [()] * len(content["attributes"])
    arrays = [
        pa.array(cells, pa.float64() if kind in ("NUMERIC", "REAL", "INTEGER") else pa.string())
        for cells, (_, kind) in zip(columns, content["attributes"], strict=True)
    ]
    return pa.table(arrays, names=[name for name, _ in content["attributes"]])


def _dense(content: dict[str, Any]) -> dict[str, Any]:
    """Rows of a sparse ARFF file with the cells that it leaves out: zero, or the first of the named values."""
    absent = [0.0 if isinstance(kind, str) else kind[0] for _, kind in content["attributes"]]
    data = [[row.get(j, default) for j, default in enumerate(absent)] for row in content["data"]]
    return {**content, "data": data}


def from_openml(number: int, downloads: Path) -> tuple[pd.DataFrame, str]:
    """A dataset of OpenML and a digest of its content; it stays among the downloads.

    Raises:
        UserError: there is no such dataset, or it cannot be reached.
    """
    from urllib.error import URLError

    import pandas as pd
    from sklearn.datasets import fetch_openml

    home = downloads / "openml"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fetched: Any = fetch_openml(
                data_id=number, data_home=home, as_frame=True, target_column=None, parser="liac-arff", n_retries=1
            )
    except URLError as error:
        reason = getattr(error, "reason", error)
        raise UserError(f"cannot be fetched ({reason}), and is not in {home}") from None
    except (ValueError, OSError) as error:
        raise UserError(f"cannot be fetched: {' '.join(str(error).split())[:200]}") from None
    frame = fetched.frame
    _check_columns([str(name) for name in frame.columns])
    digest = hashlib.sha256(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()).hexdigest()
    return frame, digest
