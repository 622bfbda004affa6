"""Read the columns of a file of text, Parquet, ARFF or Excel, or of an OpenML dataset."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npt.data.custom.columns import MISSING, exact_frame, plain_columns
from npt.data.custom.delimited import (
    COMPRESSED,
    TEXT_ENDINGS,
    Form,
    content_of,
    first_line,
    plain_name,
    read_delimited,
    require_names,
)
from npt.data.source import sha256_of
from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

EXCEL = (".xlsx", ".xls")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".arff", *EXCEL)
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
        unused: Words for missing cells that no cell has.
    """

    frame: pd.DataFrame
    sha256: str
    dates: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def file_at(path: str) -> Path | None:
    """The file of a path, where `~` is the home folder; None if there is none."""
    try:
        file = Path(path).expanduser()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def read_file(path: str, form: Form) -> Content:
    """Columns of a file with one of the `ENDINGS`.

    Raises:
        UserError: What is wrong, without the name of the file.
    """
    file = file_at(path)
    if file is None:
        raise UserError(f"there is no such file (searched in {Path.cwd()})")
    if file.stat().st_size == 0:
        raise UserError("is empty")
    name = plain_name(file.name)
    if form.names and not name.endswith((*TEXT_ENDINGS, *EXCEL)):
        raise UserError("names: the format has names of its own")
    index: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    missing = form.missing
    if name.endswith(".parquet"):
        table, index = _from_parquet(file)
    elif name.endswith(".arff"):
        table = _from_arff(file)
    elif name.endswith((*TEXT_ENDINGS, *EXCEL)):
        content = _from_excel(file) if name.endswith(EXCEL) else content_of(file)
        unused = _unused(content, missing)
        missing = (*MISSING, *missing)
        table = read_delimited(content, name, replace(form, missing=missing))
    else:
        raise UserError(
            f"has none of the endings {', '.join(ENDINGS)} (text also {', '.join(COMPRESSED)})"
        )
    read = _content(table, sha256_of(file), missing, form.as_text, index)
    return replace(read, unused=unused)


def _from_excel(path: Path) -> bytes:
    """The first sheet as comma-separated text."""
    import pandas as pd
    from python_calamine import CalamineError

    try:
        frame = pd.read_excel(path, header=None, dtype=object, engine="calamine")
    except (CalamineError, ValueError, OSError) as error:
        raise UserError(f"cannot be read as Excel: {first_line(error)}; save it as CSV") from None
    return frame.to_csv(index=False, header=False).encode()


def _unused(content: bytes, missing: Sequence[str]) -> tuple[str, ...]:
    """Words for missing cells that no cell has."""
    unused = []
    for word in missing:
        decimals = rb"(?:\.0*)?"  # -999.0 is -999
        cell = rb"(?m)(?:^|[\s,;|\"])" + re.escape(word.encode()) + decimals + rb"(?:[\s,;|\"]|$)"
        if not re.search(cell, content):
            unused.append(word)
    return tuple(unused)


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
        raise UserError(f"cannot be fetched: {first_line(error)}") from None
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

    table = table.rename_columns([name.strip() for name in table.column_names])
    table = _without_empty_columns(table)
    require_names(table.column_names)
    if not table.num_rows:
        raise UserError("has a header and no rows")
    categories = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    table, dates = plain_columns(table, missing, {*as_text, *categories})
    return Content(exact_frame(table), sha256, dates, index, tuple(categories))


def _without_empty_columns(table: pa.Table) -> pa.Table:
    """A table without columns that have neither a name nor a cell, as spreadsheets leave them."""
    kept = []
    for j, name in enumerate(table.column_names):
        if name or table.column(j).null_count < table.num_rows:
            kept.append(j)
    return table.select(kept)


def _from_parquet(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """The table without the index that pandas stored in it, and the index's columns."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        require_names(file.schema_arrow.names)
        table = file.read(use_threads=False)
        stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"cannot be read as Parquet: {first_line(error)}") from None
    index = [name for name in stored if isinstance(name, str) and name in table.column_names]
    return table.drop_columns(index), tuple(index)


def _from_arff(path: Path) -> pa.Table:
    import arff
    import pyarrow as pa

    try:
        content = arff.loads(path.read_text(encoding="utf-8-sig"))
    except (arff.ArffException, ValueError) as error:
        raise UserError(f"cannot be read as ARFF: {first_line(error)}") from None
    names = [name for name, _ in content["attributes"]]
    require_names(names)
    if not content["data"]:
        raise UserError("has a header and no rows")
    arrays = []
    columns = zip(*content["data"], strict=True)
    for (_, kind), cells in zip(content["attributes"], columns, strict=True):
        array = pa.array(cells, pa.float64() if kind in ARFF_NUMBERS else pa.string())
        declared_classes = isinstance(kind, list)
        arrays.append(array.dictionary_encode() if declared_classes else array)
    return pa.table(arrays, names=names)
