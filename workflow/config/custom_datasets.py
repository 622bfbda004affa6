"""The `custom_datasets` of a configuration: tables of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from npt.data.custom import CustomDataset, Wanted
from npt.data.datasets import datasets
from npt.data.formats import file_at
from npt.interface import UserError
from workflow.config.old_checks import require_identifier, require_keys, typed


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
    kinds = [field.name for field in fields(CustomDataset) if field.name != "name"]
    require_keys(block, kinds, where)
    for key in ("target", "task"):
        if block.get(key) is None:
            allowed = f"; allowed: {', '.join(get_args(Wanted))}" if key == "task" else ""
            raise UserError(f"{where}.{key}: is missing{allowed}")
    given = {key: _listed(key, value, where) for key, value in block.items() if value is not None}
    return typed(CustomDataset, {"name": name, **given}, where)


def _listed(key: str, value: Any, where: str) -> Any:
    """Names of columns may be numbers in YAML, and a list of one may be the name itself."""
    if isinstance(value, bool):
        raise UserError(
            f"{where}.{key}: {value!r} is neither a name nor a number; put quotes around a name such as 'yes'"
        )
    kind = get_type_hints(CustomDataset)[key]
    if kind is str and isinstance(value, int | float):
        return str(value)
    if kind == tuple[str, ...]:
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    return value
