"""Prepare a dataset: table, folds, and the facts of where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npt.data import store
from npt.data.assembly import assemble
from npt.data.custom import CustomDataset, folds_of, read_custom
from npt.data.datasets import datasets
from npt.data.declaration import Dataset
from npt.data.source import acquire
from npt.data.splits import splits
from npt.interface import UserError, unknown
from npt.table import Split, Table


def prepare(name: str, downloads: Path) -> store.Prepared:
    """Prepare the declared dataset of a name.

    Raises:
        UserError: there is no such dataset, or its files cannot be acquired or are not as declared.
    """
    if name not in datasets():
        raise UserError(f"dataset: {unknown(name, datasets())}")
    return prepare_declared(datasets()[name], downloads)


def prepare_declared(dataset: Dataset, downloads: Path) -> store.Prepared:
    """Prepare a declared dataset from whichever source has its files."""
    acquired = acquire(dataset, downloads)
    table = assemble(acquired.reading.read(acquired.paths), dataset)
    folds = {split.fold: split for split in splits(table, dataset.split_rule)}
    files = {file.name: file.sha256 for file in acquired.reading.files}
    origin = {"files": files, "origins": dict(acquired.origins), "licence": dataset.licence}
    return store.Prepared(table, folds, _facts(dataset.name, origin, table, folds))


def prepare_custom(dataset: CustomDataset, downloads: Path) -> store.Prepared:
    """Prepare a custom dataset from its file or from OpenML."""
    content = read_custom(dataset, downloads)
    folds = folds_of(dataset, content)
    file = Path(dataset.path).name if dataset.path else dataset.location
    origin = {
        "files": {file: content.sha256},
        "origins": {file: "your own" if dataset.path else "OpenML"},
        "licence": dataset.licence,
    }
    facts = _facts(dataset.name, origin, content.table, folds)
    facts["description"] = list(content.description)
    return store.Prepared(content.table, folds, facts)


def described(prepared: store.Prepared) -> list[str]:
    """Facts of a prepared dataset as lines."""
    facts = dict(prepared.facts)
    description = facts.pop("description", [])
    return [*(f"{name}: {value}" for name, value in facts.items()), *description]


def _facts(
    name: str, origin: Mapping[str, Any], table: Table, folds: Mapping[int, Split]
) -> dict[str, Any]:
    return {
        "name": name,
        "licence": origin["licence"],
        "files": origin["files"],
        "origins": origin["origins"],
        "content": store.content_hash(table),
        "splits": store.split_hash(folds),
    }
