"""Prepare a dataset: its table, its folds, and facts about its origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npt.data import store
from npt.data.assembly import assemble
from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset
from npt.data.source import acquire
from npt.data.splits import splits
from npt.errors import UserError
from npt.table import Split, Table


def prepare_declared(dataset: Dataset, downloads: Path) -> store.Prepared:
    """Prepare a declared dataset from whichever source has its files.

    Raises:
        UserError: Its files cannot be acquired, or are not as declared, or it has a split rule of
            custom datasets.
    """
    rule = dataset.split_rule
    if rule.by_time or rule.from_source:
        raise UserError(
            f"{dataset.name}: by_time and from_source are split rules of custom datasets alone"
        )
    acquired = acquire(dataset, downloads)
    frames = acquired.reading.read(acquired.paths)
    table = assemble(frames, dataset)
    if dataset.groups:
        table = _grouped(table, dataset.groups)
    folds = splits(table, rule)
    files = {file.name: file.sha256 for file in acquired.reading.files}
    return prepared(dataset, table, folds, files=files, origins=dict(acquired.origins))


def _grouped(table: Table, names: tuple[str, ...]) -> Table:
    """A table whose rows belong together where they are equal in some columns."""
    places = [j for j, column in enumerate(table.columns) if column.name in names]
    compared = np.stack([np.nan_to_num(table.numbers(j), nan=np.inf) for j in places], axis=1)
    groups = np.unique(compared, axis=0, return_inverse=True)[1]
    table = replace(table, groups=groups)
    return table.without(places[0]) if len(places) == 1 else table


def prepared(
    dataset: Dataset | CustomDataset, table: Table, folds: Sequence[Split], **origin: Any
) -> store.Prepared:
    """A table with its folds, and facts: those of its origin, and digests of what it is."""
    by_number = {split.fold: split for split in folds}
    facts = {
        "name": dataset.name,
        "licence": dataset.licence,
        "fingerprint": dataset.fingerprint(),
        "content": store.content_hash(table),
        "splits": store.split_hash(by_number),
        **origin,
    }
    return store.Prepared(table, by_number, facts)
