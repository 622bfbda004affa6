"""A prepared dataset on disk: an Arrow file of the table, its folds and its origin.

Numbers are plain columns, categories are dictionaries, and the parts of each fold follow as
columns. Any reader of Arrow opens it (`pandas.read_feather`). It is memory-mapped and holds no
pickle.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from npt.atomic import replacing
from npt.errors import UserError
from npt.table import PARTS, Column, Image, Split, Table
from npt.validation import Strict

if TYPE_CHECKING:
    import pyarrow as pa

HEADER = b"npt"
CHECKSUM = b"npt.checksum"  # of the header
BLOCK_CELLS = 1 << 22


class _Header(Strict):
    """All of a file but its arrays, which are those of the columns, then those of the folds.

    Attributes:
        checksums: Of the arrays.
        has_groups: Whether the array of the groups is the last one.
    """

    columns: tuple[Column, ...]
    target: int
    image: Image | None
    folds: list[int]
    checksums: list[int]
    facts: dict[str, Any]
    has_groups: bool = False


@dataclass(frozen=True)
class Prepared:
    """A table with its folds; `facts` are name, licence, origins of the files and the like."""

    table: Table
    splits: Mapping[int, Split]
    facts: Mapping[str, Any]


def content_hash(table: Table) -> str:
    """sha256 of the cells, row by row, as little-endian float64.

    It is the same on every machine, whatever types the cells have.
    """
    digest = hashlib.sha256()
    step = max(1, BLOCK_CELLS // len(table.columns))
    for start in range(0, table.rows, step):
        block = table.take(slice(start, start + step)).values
        digest.update(np.ascontiguousarray(block, "<f8").data)
    return digest.hexdigest()


def split_hash(splits: Mapping[int, Split]) -> str:
    """sha256 of the folds' sorted test rows as little-endian 64-bit integers."""
    digest = hashlib.sha256()
    for fold in sorted(splits):
        digest.update(splits[fold].test.astype("<i8").tobytes())
    return digest.hexdigest()


def save(path: Path, prepared: Prepared) -> None:
    """Write a prepared dataset atomically."""
    import pyarrow as pa

    table = prepared.table
    parts = [split.part().astype(np.int8) for split in prepared.splits.values()]
    groups = [] if table.groups is None else [table.groups]
    arrays = [
        *map(_to_arrow, table.columns, table.cells),
        *map(pa.array, (*parts, *groups)),
    ]
    header = _Header(
        columns=table.columns,
        target=table.target,
        image=table.image,
        folds=list(prepared.splits),
        checksums=[_checksum(cells) for cells in (*table.cells, *parts, *groups)],
        facts=dict(prepared.facts),
        has_groups=bool(groups),
    )
    text = header.model_dump_json().encode()
    metadata = {HEADER: text, CHECKSUM: str(zlib.crc32(text))}
    names = [column.name for column in table.columns]
    names += [f"npt fold {fold}" for fold in prepared.splits]
    names += ["npt groups"] * len(groups)
    batch = pa.record_batch(arrays, names).replace_schema_metadata(metadata)
    with (
        replacing(path) as partial,
        pa.OSFile(str(partial), "wb") as stream,
        pa.ipc.new_file(stream, batch.schema) as writer,
    ):
        writer.write_batch(batch)


def load(path: Path) -> Prepared:
    """Open a prepared dataset, whose columns are mapped from the file.

    Raises:
        UserError: The file is damaged.
    """
    import pyarrow as pa

    damaged = (pa.ArrowException, LookupError, OSError, OverflowError, TypeError, ValueError)
    try:
        header, arrays = _read(path)
    except (FileNotFoundError, PermissionError):
        raise
    except damaged as error:
        kind = type(error).__name__
        raise UserError(f"{path}: damaged ({kind}); remove it and run again") from None
    groups = arrays.pop() if header.has_groups else None
    count = len(header.columns)
    splits = {}
    for fold, part in zip(header.folds, arrays[count:], strict=True):
        rows = [np.flatnonzero(part == code) for code in range(len(PARTS))]
        splits[fold] = Split(fold, *rows)
    table = Table(header.columns, tuple(arrays[:count]), header.target, header.image, groups)
    return Prepared(table, splits, header.facts)


def _read(path: Path) -> tuple[_Header, list[np.ndarray]]:
    """Header and columns of a file."""
    import pyarrow as pa

    opened = pa.ipc.open_file(pa.memory_map(str(path)))
    metadata = opened.schema.metadata or {}
    text = metadata[HEADER]
    checksum = str(zlib.crc32(text)).encode()
    if checksum != metadata[CHECKSUM]:
        raise ValueError("header")
    header = _Header.model_validate_json(text)
    arrays = [_to_numpy(array) for array in opened.get_batch(0).columns]
    for array, checksum in zip(arrays, header.checksums, strict=True):
        if _checksum(array) != checksum:
            raise ValueError("column")
    return header, arrays


def _to_arrow(column: Column, cells: np.ndarray) -> pa.Array:
    import pyarrow as pa

    if column.kind == "continuous":
        return pa.array(cells)
    codes = pa.array(cells, mask=cells < 0)
    return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels, pa.string()))


def _to_numpy(array: pa.Array) -> np.ndarray:
    """Numbers or codes, mapped from the file unless missing categories are marked in a copy."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.indices
    if array.null_count:
        array = array.fill_null(-1)
    return array.to_numpy(zero_copy_only=True)


def _checksum(cells: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(cells).data)
