"""The `custom_datasets` of a configuration: tables of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npt.data.custom import CustomDataset
from npt.data.custom.formats import file_at
from npt.data.datasets import datasets
from npt.interface import UserError
from npt.validation import validated
from workflow.config.old_checks import require_identifier


def custom_datasets(raw: Mapping[str, Any]) -> dict[str, CustomDataset]:
    """Every table of the block, by name.

    Raises:
        UserError: one line that names the key, what was found and what is allowed.
    """
    found = {}
    for name, block in raw.items():
        where = f"custom_datasets.{name}"
        require_identifier(name, f"custom_datasets: {name!r}", "table")
        if name in datasets():
            raise UserError(
                f"{where}: is the name of a dataset that is there already; choose another"
            )
        found[name] = custom_dataset(name, block, where)
        if found[name].path and not file_at(found[name].path):
            raise UserError(
                f"{where}.path: {found[name].path}: there is no such file (looked in {Path.cwd()})"
            )
    return found


def custom_dataset(name: str, block: Any, where: str) -> CustomDataset:
    """One table as a configuration tells it."""
    if not isinstance(block, Mapping):
        raise UserError(
            f"{where}: {block!r} is not a mapping such as {{path: my.csv, target: price, task: regression}}"
        )
    return validated(CustomDataset, {**block, "name": name}, where)
