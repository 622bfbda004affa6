"""A prepared dataset on disk: the table, its splits and where it came from, in one .npz without pickles."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npt.files import replacing
from npt.interface import Column, Split, Table, UserError


@dataclass(frozen=True)
class Prepared:
    """A table with its folds; `facts` are name, title, origins of the files and the like."""

    table: Table
    splits: Mapping[int, Split]
    facts: Mapping[str, Any]


def content_hash(table: Table) -> str:
    """sha256 over the cells as little-endian float64, the same on every machine."""
    return hashlib.sha256(np.ascontiguousarray(table.values, "<f8").tobytes()).hexdigest()


def split_hash(splits: Mapping[int, Split]) -> str:
    """sha256 over the folds' sorted test row numbers as little-endian 64-bit integers."""
    return hashlib.sha256(b"".join(splits[fold].test.astype("<i8").tobytes() for fold in sorted(splits))).hexdigest()


def save(path: Path, prepared: Prepared) -> None:
    """Write a prepared dataset; the name appears only when the file is whole."""
    table = prepared.table
    header = {"columns": [asdict(column) for column in table.columns], "target": table.target, **prepared.facts}
    arrays = {f"fold_{fold}": split.part().astype(np.int8) for fold, split in prepared.splits.items()}
    with replacing(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, header=np.array(json.dumps(header)), values=table.values, **arrays)


def load(path: Path) -> Prepared:
    """Read what `save` wrote.

    Raises:
        UserError: the file is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(str(stored["header"]))
            parts = {int(name.removeprefix("fold_")): stored[name] for name in stored.files if name.startswith("fold_")}
            values = stored["values"]
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise UserError(f"{path}: damaged ({type(error).__name__}); remove it and run again") from None
    columns = tuple(Column(c["name"], c["kind"], tuple(c["levels"])) for c in header.pop("columns"))
    splits = {fold: Split(fold, *(np.flatnonzero(part == code) for code in range(3))) for fold, part in parts.items()}
    return Prepared(Table(columns, values, header.pop("target")), splits, header)
