"""A prepared dataset on disk: the table, its folds and where it came from, in one Arrow file that is mapped, not read.

Numbers are plain columns, categories are dictionaries, the parts of each fold follow as columns of their own; any reader of
Arrow opens it (`pandas.read_feather`). Nothing in it is a pickle.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from npt.atomic import replacing
from npt.interface import UserError
from npt.table import Column, Image, Split, Table

if TYPE_CHECKING:
    import pyarrow as pa

HEADER = b"npt"
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class Prepared:
    """A table with its folds; `facts` are name, title, origins of the files and the like."""

    table: Table
    splits: Mapping[int, Split]
    facts: Mapping[str, Any]


def content_hash(table: Table) -> str:
    """sha256 over the cells, row by row, as little-endian float64: the same on every machine and for every type stored."""
    digest = hashlib.sha256()
    step = max(1, BLOCK_CELLS // len(table.columns))
    for start in range(0, table.rows, step):
        digest.update(np.ascontiguousarray(table.block(slice(start, start + step)), "<f8").data)
    return digest.hexdigest()


def split_hash(splits: Mapping[int, Split]) -> str:
    """sha256 over the folds' sorted test row numbers as little-endian 64-bit integers."""
    return hashlib.sha256(
        b"".join(splits[fold].test.astype("<i8").tobytes() for fold in sorted(splits))
    ).hexdigest()


def save(path: Path, prepared: Prepared) -> None:
    """Write a prepared dataset; the name appears only when the file is whole."""
    import pyarrow as pa

    table, parts = (
        prepared.table,
        [(fold, split.part().astype(np.int8)) for fold, split in prepared.splits.items()],
    )
    arrays = [
        _to_arrow(column, cells) for column, cells in zip(table.columns, table.cells, strict=True)
    ]
    arrays += [pa.array(part) for _, part in parts]
    header = {
        "columns": [asdict(column) for column in table.columns],
        "target": table.target,
        "image": asdict(table.image) if table.image else None,
        "folds": [fold for fold, _ in parts],
        "checksums": [_checksum(cells) for cells in (*table.cells, *(part for _, part in parts))],
        "facts": dict(prepared.facts),
    }
    text = json.dumps(header)
    names = [column.name for column in table.columns]
    prefix = "fold"
    while any(name.startswith(prefix) for name in names):
        prefix = f"_{prefix}"
    names += [f"{prefix} {fold}" for fold, _ in parts]
    metadata = {
        HEADER: text.encode(),
        HEADER + b".checksum": str(zlib.crc32(text.encode())).encode(),
    }
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)], metadata
    )
    with (
        replacing(path) as partial,
        pa.OSFile(str(partial), "wb") as stream,
        pa.ipc.new_file(stream, schema) as writer,
    ):
        writer.write_batch(pa.record_batch(arrays, schema=schema))


def load(path: Path, *, check: bool = True) -> Prepared:
    """Open what `save` wrote. Its columns are mapped from the file; with `check` all are compared with their checksums first.

    Raises:
        UserError: the file is damaged.
    """
    import pyarrow as pa

    try:
        opened = pa.ipc.open_file(pa.memory_map(str(path)))
        metadata = opened.schema.metadata or {}
        text = metadata[HEADER]
        if str(zlib.crc32(text)).encode() != metadata[HEADER + b".checksum"]:
            raise ValueError("header")
        header = json.loads(text)
        columns = tuple(Column(c["name"], c["kind"], tuple(c["levels"])) for c in header["columns"])
        arrays = [_to_numpy(array) for array in opened.get_batch(0).columns]
        if check:
            for array, checksum in zip(arrays, header["checksums"], strict=True):
                if _checksum(array) != checksum:
                    raise ValueError("column")
    except (
        pa.ArrowException,
        KeyError,
        ValueError,
        IndexError,
        OverflowError,
        TypeError,
        OSError,
    ) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise UserError(
            f"{path}: damaged ({type(error).__name__}); remove it and run again"
        ) from None
    parts = dict(zip(header["folds"], arrays[len(columns) :], strict=True))
    splits = {
        fold: Split(fold, *(np.flatnonzero(part == code) for code in range(3)))
        for fold, part in parts.items()
    }
    table = Table(columns, tuple(arrays[: len(columns)]), header["target"], _image(header["image"]))
    return Prepared(table, splits, header["facts"])


def _image(stored: dict[str, Any] | None) -> Image | None:
    if stored is None:
        return None
    return Image(**{**stored, "centre": tuple(stored["centre"]), "scale": tuple(stored["scale"])})


def _to_arrow(column: Column, cells: np.ndarray) -> pa.Array:
    import pyarrow as pa

    if column.kind == "continuous":
        return pa.array(cells)
    return pa.DictionaryArray.from_arrays(
        pa.array(cells, mask=cells < 0), pa.array(column.levels, pa.string())
    )


def _to_numpy(array: pa.Array) -> np.ndarray:
    """A column's numbers or codes; mapped from the file, unless missing categories must be marked in a copy."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array.to_numpy(zero_copy_only=True)
    codes = array.indices
    return (
        codes.to_numpy(zero_copy_only=True)
        if not codes.null_count
        else codes.fill_null(-1).to_numpy()
    )


def _checksum(cells: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(cells).data)
