"""Prepare a dataset: its table, its folds, and facts about its origin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npt.data import store
from npt.data.assembly import assemble
from npt.data.custom import CustomDataset
from npt.data.custom.reading import folds_of, read_custom
from npt.data.declaration import Dataset
from npt.data.source import acquire
from npt.data.splits import splits
from npt.table import Split, Table


def prepare_declared(dataset: Dataset, downloads: Path) -> store.Prepared:
    """Prepare a declared dataset from whichever source has its files.

    Raises:
        UserError: Its files cannot be acquired, or are not as declared.
    """
    acquired = acquire(dataset, downloads)
    frames = acquired.reading.read(acquired.paths)
    table = assemble(frames, dataset)
    folds = {split.fold: split for split in splits(table, dataset.split_rule)}
    files = {file.name: file.sha256 for file in acquired.reading.files}
    facts = _facts(dataset, files, acquired.origins, table, folds)
    return store.Prepared(table, folds, facts)


def prepare_custom(dataset: CustomDataset, downloads: Path) -> store.Prepared:
    """Prepare a custom dataset from its file or from OpenML."""
    custom = read_custom(dataset, downloads)
    folds = folds_of(dataset, custom)
    file = Path(dataset.path).name or dataset.location
    origins = {file: "your own" if dataset.path else "OpenML"}
    facts = _facts(dataset, {file: custom.sha256}, origins, custom.table, folds)
    facts["description"] = list(custom.description)
    return store.Prepared(custom.table, folds, facts)


def _facts(
    dataset: Dataset | CustomDataset,
    files: Mapping[str, str],
    origins: Mapping[str, str],
    table: Table,
    folds: Mapping[int, Split],
) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "licence": dataset.licence,
        "fingerprint": dataset.fingerprint(),
        "files": files,
        "origins": dict(origins),
        "content": store.content_hash(table),
        "splits": store.split_hash(folds),
    }
