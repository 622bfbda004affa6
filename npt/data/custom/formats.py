"""Read a file of text, Parquet, ARFF or Excel, or a dataset of OpenML, as it is written."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet

from npt.data.custom.dataset import CustomDataset
from npt.data.custom.file import (
    COMPRESSED,
    SEPARATORS,
    TEXT_ENDINGS,
    content_of,
    file_at,
    first_line,
    plain_name,
)
from npt.data.source import sha256_of
from npt.errors import UserError

EXCEL = (".xlsx", ".xls")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".arff", *EXCEL)
ARFF_NUMBERS = ("NUMERIC", "REAL", "INTEGER")
ARFF_DATE = r"""(?im)^(\s*@attribute\s+(?:"[^"]*"|'[^']*'|\S+)\s+)date\b.*$"""
BLANK = " "
MAX_COLUMNS = 10_000
BLOCK_BYTES = 1 << 26  # more than any cell


@dataclass(frozen=True)
class Content:
    """Columns of a file.

    Attributes:
        names: Their names, not checked.
        table: The columns. Those of text are bytes that need not be UTF-8.
        sha256: Digest of the file, or of the content of an OpenML dataset.
        is_text: Whether numbers and dates are written as text.
        categories: Columns that the file declares as categories.
        index: Columns that pandas stored as an index.
    """

    names: list[str]
    table: pa.Table
    sha256: str
    is_text: bool = False
    categories: tuple[str, ...] = ()
    index: tuple[str, ...] = ()


def read_source(dataset: CustomDataset, downloads: Path) -> Content:
    """Columns of a file with one of the `ENDINGS`, or of OpenML.

    Raises:
        UserError: What is wrong, without the name of the file.
    """
    if dataset.openml is not None:
        return read_openml(dataset.openml, downloads)
    file = file_at(dataset.path)
    if file is None:
        if Path(dataset.path).expanduser().is_dir():
            raise UserError("is a folder; one file is read")
        raise UserError(f"there is no such file (searched in {Path.cwd()})")
    if file.stat().st_size == 0:
        raise UserError("is empty")
    name = plain_name(file.name)
    if dataset.names and not name.endswith((*TEXT_ENDINGS, *EXCEL)):
        raise UserError("names: the format has names of its own")
    if name.endswith(TEXT_ENDINGS):
        return _from_text(content_of(file), name, dataset, sha256_of(file))
    if name.endswith(EXCEL):
        return _from_text(_text_of_excel(file), name, dataset, sha256_of(file))
    if name.endswith(".arff"):
        return _from_arff(content_of(file), sha256_of(file))
    if name.endswith(".parquet"):
        return _from_parquet(file)
    raise UserError(
        f"has none of the endings {', '.join(ENDINGS)} (text and ARFF also {', '.join(COMPRESSED)})"
    )


def _from_text(content: bytes, name: str, dataset: CustomDataset, sha256: str) -> Content:
    content, separator = _without_comments(content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n"))
    header = content.partition(b"\n")[0].partition(b"\r")[0]
    if b"\0" in header:
        raise UserError("is not text (it has zero bytes)")
    separator = (
        dataset.separator or separator or _separator_of(header.decode(errors="ignore"), name)
    )
    if header.count(separator.encode()) >= MAX_COLUMNS:
        raise UserError(f"has more than {MAX_COLUMNS:,} columns")
    if separator == BLANK:
        content = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content))
    try:
        table = csv.read_csv(
            io.BytesIO(content),
            csv.ReadOptions(
                use_threads=False, autogenerate_column_names=True, block_size=BLOCK_BYTES
            ),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(column_types={f"f{j}": pa.binary() for j in range(MAX_COLUMNS)}),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(
            f"cannot be read as text separated by {separator!r}: {first_line(error)}"
        ) from None
    if dataset.names:
        if len(dataset.names) != table.num_columns:
            raise UserError(f"names: {len(dataset.names)} names for {table.num_columns} columns")
        return Content(list(dataset.names), table, sha256, is_text=True)
    try:
        names = [column[0].as_py().decode() for column in table.columns]
    except UnicodeDecodeError:
        raise UserError("has a header that is not UTF-8; save the file as UTF-8") from None
    return Content(names, table.slice(1), sha256, is_text=True)


def _without_comments(content: bytes) -> tuple[bytes, str]:
    """Text without lines at its start that are no rows, and the separator that Excel wrote there.

    Comments begin with # and have fewer cells than the next line.
    """
    separator = re.match(rb"sep=(.)\r?\n", content)
    if separator:
        return content[separator.end() :], separator[1].decode(errors="ignore")
    while content.startswith(b"#"):
        comment, _, rest = content.partition(b"\n")
        following = rest.partition(b"\n")[0]
        if _most_separators(comment) >= _most_separators(following) > 0:
            break
        content = rest
    return content, ""


def _most_separators(line: bytes) -> int:
    return max(line.count(letter.encode()) for letter in SEPARATORS)


def _separator_of(header: str, name: str) -> str:
    if name.endswith((".tsv", ".tab")):
        return "\t"
    unquoted = re.sub(r'"[^"]*"', "", header)
    separator = max(SEPARATORS, key=unquoted.count)
    if separator not in unquoted and len(unquoted.split()) > 1:
        raise UserError(
            f"has one column {header.strip()!r}; name its separator, such as `separator: ' '`"
        )
    return separator


def _text_of_excel(path: Path) -> bytes:
    """The first sheet as comma-separated text."""
    from python_calamine import CalamineError

    try:
        frame = pd.read_excel(path, header=None, dtype=object, engine="calamine")
    except (CalamineError, ValueError, OSError) as error:
        raise UserError(f"cannot be read as Excel: {first_line(error)}; save it as CSV") from None
    return frame.to_csv(index=False, header=False).encode()


def _from_arff(content: bytes, sha256: str) -> Content:
    import arff

    try:
        text = re.sub(ARFF_DATE, r"\1string", content.decode("utf-8-sig"))
        data = arff.loads(text)
    except (arff.ArffException, ValueError) as error:
        raise UserError(f"cannot be read as ARFF: {first_line(error)}") from None
    names = [name for name, _ in data["attributes"]]
    categories = []
    arrays = []
    columns = list(zip(*data["data"], strict=True)) or [()] * len(names)
    for (name, kind), cells in zip(data["attributes"], columns, strict=True):
        if isinstance(kind, list):
            categories.append(name)
        arrays.append(pa.array(cells, pa.float64() if kind in ARFF_NUMBERS else pa.string()))
    return Content(names, pa.table(arrays, names=names), sha256, categories=tuple(categories))


def _from_parquet(path: Path) -> Content:
    try:
        table = parquet.ParquetFile(path).read(use_threads=False)
        stored = table.schema.pandas_metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"cannot be read as Parquet: {first_line(error)}") from None
    names = table.column_names
    categories = []
    for column in stored.get("columns", []):
        if column["pandas_type"] == "categorical":
            categories.append(column["field_name"])
    index = [name for name in stored.get("index_columns", []) if name in names]
    return Content(names, table, sha256_of(path), categories=tuple(categories), index=tuple(index))


def read_openml(number: int, downloads: Path) -> Content:
    """Columns of a dataset of OpenML, which is kept among the downloads.

    Raises:
        UserError: There is no such dataset, or OpenML cannot be reached.
    """
    from http.client import HTTPException
    from urllib.error import URLError

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
        raise UserError(f"cannot be fetched: {first_line(error)}") from None
    frame = fetched.frame
    hashes = pd.util.hash_pandas_object(frame, index=False)
    digest = hashlib.sha256(hashes.to_numpy().tobytes()).hexdigest()
    categories = frame.select_dtypes("category").columns
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return Content(list(frame.columns), table, digest, categories=tuple(categories))
