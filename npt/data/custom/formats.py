"""Read a file of text, Parquet, ARFF or Excel, or a dataset of OpenML, as it is written."""

from __future__ import annotations

import codecs
import hashlib
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import arff
import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet
from pyarrow.compute import field
from python_calamine import CalamineError

from npt.data.custom.dataset import CustomDataset
from npt.data.custom.file import (
    COMPRESSED,
    SEPARATORS,
    TEXT_ENDINGS,
    UNREADABLE,
    ending_of,
    file_at,
    opened,
)
from npt.data.source import sha256_of
from npt.errors import UserError

ARFF_NUMBERS = ("NUMERIC", "REAL", "INTEGER")
ARFF_DATE = r"""(?im)^(\s*@attribute\s+(?:"[^"]*"|'[^']*'|\S+)\s+)date\b.*$"""
BLANK = " "
MAX_COLUMNS = 10_000
BLOCK_BYTES = 1 << 26  # more than any cell
MAX_ERROR = 200  # letters of an error of a library


@dataclass(frozen=True)
class Content:
    """Columns of a file.

    Attributes:
        names: Their names, not checked.
        table: The columns. Those of text are bytes that need not be UTF-8.
        sha256: Digest of the file, or of the content of an OpenML dataset.
        is_text: Whether numbers and dates are written as text.
        categories: Columns of another type that the file declares as categories.
        index: Columns that pandas stored as an index.
    """

    names: list[str]
    table: pa.Table
    sha256: str = ""
    is_text: bool = False
    categories: tuple[str, ...] = ()
    index: tuple[str, ...] = ()


def read_source(dataset: CustomDataset, downloads: Path) -> Content:
    """Columns of a file with one of the endings of `READERS`, or of OpenML.

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
    ending = ending_of(file)
    if ending not in READERS:
        raise UserError(
            f"has none of the endings {', '.join(READERS)} (text and ARFF also "
            f"{', '.join(COMPRESSED)})"
        )
    try:
        content = READERS[ending](file, dataset)
    except (*UNREADABLE, arff.ArffException, CalamineError, pa.ArrowException) as error:
        raise UserError(f"cannot be read as {ending}: {_first_line(error)}") from None
    if dataset.names and not content.is_text:
        raise UserError("names: the format has names of its own")
    return replace(content, sha256=sha256_of(file))


def _first_line(error: BaseException) -> str:
    """Beginning of an error's text, without the rows that Arrow quotes."""
    text, _, _ = str(error).partition("Row:")
    return " ".join(text.split())[:MAX_ERROR]


def _from_text(path: Path, dataset: CustomDataset) -> Content:
    with opened(path) as stream:
        return _from_bytes(stream.read(), dataset)


def _from_excel(path: Path, dataset: CustomDataset) -> Content:
    """The first sheet, as comma-separated text."""
    frame = pd.read_excel(path, header=None, dtype=object, engine="calamine")
    return _from_bytes(frame.to_csv(index=False, header=False).encode(), dataset)


def _from_bytes(content: bytes, dataset: CustomDataset) -> Content:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16").encode()
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    separator = dataset.separator
    by_excel = re.match(rb"sep=(.)\r?\n", content)
    if by_excel:
        content = content[by_excel.end() :]
        separator = separator or by_excel[1].decode(errors="ignore")
    content = _without_comments(content)
    header = content.partition(b"\n")[0].partition(b"\r")[0].decode(errors="ignore")
    if "\0" in header:
        raise UserError("is not UTF-8 text; save the file as UTF-8")
    if not separator:  # the first line of a file without a header has numbers
        separator = _separator_of(header.replace(dataset.decimal, "") if dataset.names else header)
    if separator == BLANK:
        content = b"\n".join(b" ".join(line.split()) for line in content.splitlines())
    if header.count(separator) >= MAX_COLUMNS:
        raise UserError(f"has more than {MAX_COLUMNS:,} columns")
    types = {f"f{j}": pa.binary() for j in range(MAX_COLUMNS)}
    table = csv.read_csv(
        io.BytesIO(content),
        csv.ReadOptions(use_threads=False, autogenerate_column_names=True, block_size=BLOCK_BYTES),
        csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        csv.ConvertOptions(column_types=types),
    )
    has_text = reduce(or_, [field(name) != b"" for name in table.column_names])
    table = table.filter(has_text)  # spreadsheets write separators in blank lines
    if dataset.names:
        if len(dataset.names) != table.num_columns:
            raise UserError(f"names: {len(dataset.names)} names for {table.num_columns} columns")
        return Content(list(dataset.names), table, is_text=True)
    try:
        names = [column[0].as_py().decode() for column in table.columns]
    except UnicodeDecodeError:
        raise UserError("has a header that is not UTF-8; save the file as UTF-8") from None
    return Content(names, table.slice(1), is_text=True)


def _without_comments(content: bytes) -> bytes:
    """Text without lines at its start that begin with # and have fewer cells than the next.

    Before a line separated by blanks, all of them are left out.
    """
    while content.startswith(b"#"):
        comment, _, rest = content.partition(b"\n")
        following = rest.partition(b"\n")[0]
        if _most_separators(comment) >= _most_separators(following) > 0:
            break
        content = rest
    return content


def _most_separators(line: bytes) -> int:
    return max(line.count(letter.encode()) for letter in SEPARATORS)


def _separator_of(header: str) -> str:
    """The most frequent separator of a header, or blanks where there is none."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    separator = max(SEPARATORS, key=unquoted.count)
    has_blanks = separator not in unquoted and len(unquoted.split()) > 1
    return BLANK if has_blanks else separator


def _from_arff(path: Path, dataset: CustomDataset) -> Content:
    with opened(path) as stream:
        text = stream.read().decode("utf-8-sig")
    data = arff.loads(re.sub(ARFF_DATE, r"\1string", text))
    names = [name for name, _ in data["attributes"]]
    arrays = []
    columns = list(zip(*data["data"], strict=True)) or [()] * len(names)
    for (_, kind), cells in zip(data["attributes"], columns, strict=True):
        array = pa.array(cells, pa.float64() if kind in ARFF_NUMBERS else pa.string())
        arrays.append(array.dictionary_encode() if isinstance(kind, list) else array)
    return Content(names, pa.table(arrays, names=names))


def _from_parquet(path: Path, dataset: CustomDataset) -> Content:
    table = parquet.ParquetFile(path).read(use_threads=False)
    stored = table.schema.pandas_metadata or {}
    names = table.column_names
    categories = []
    for column in stored.get("columns", []):
        if column["pandas_type"] == "categorical":
            categories.append(column["field_name"])
    index = [name for name in stored.get("index_columns", []) if name in names]
    return Content(names, table, categories=tuple(categories), index=tuple(index))


READERS: dict[str, Callable[[Path, CustomDataset], Content]] = {
    **dict.fromkeys(TEXT_ENDINGS, _from_text),
    ".parquet": _from_parquet,
    ".arff": _from_arff,
    ".xlsx": _from_excel,
    ".xls": _from_excel,
}


def read_openml(number: int, downloads: Path) -> Content:
    """Columns of a dataset of OpenML, which is kept among the downloads.

    Raises:
        UserError: There is no such dataset, or OpenML cannot be reached.
    """
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    home = downloads / "openml"
    try:
        with warnings.catch_warnings(action="ignore"):
            fetched: Any = fetch_openml(
                data_id=number,
                data_home=home,
                as_frame=True,
                target_column=None,
                parser="liac-arff",
                n_retries=1,
            )
    except (ValueError, OSError, HTTPException) as error:
        raise UserError(f"cannot be fetched ({_first_line(error)}), and is not in {home}") from None
    frame = fetched.frame
    hashes = pd.util.hash_pandas_object(frame, index=False)
    digest = hashlib.sha256(hashes.to_numpy().tobytes()).hexdigest()
    return Content(list(frame.columns), pa.Table.from_pandas(frame, preserve_index=False), digest)
