"""Options of the command line that declare a table: the keys of a custom dataset."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from npt.data.custom.dataset import CustomDataset

SOURCES = ("name", "path", "openml", "openml_task")


def add_options(parser: argparse.ArgumentParser, but: Collection[str] = ()) -> None:
    """Add an option for each key of a custom dataset but its source and some others."""
    for name, field in _keys(but).items():
        kind: Any = field.annotation
        is_list = get_origin(kind) is tuple
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            nargs="+" if is_list else None,
            type=kind if kind in (int, float) else str,
            required=field.is_required(),
            default=argparse.SUPPRESS,
            help=field.description,
        )


def given_options(options: argparse.Namespace, but: Collection[str] = ()) -> dict[str, Any]:
    """Keys of a custom dataset, and their values, that were given."""
    keys = _keys(but)
    return {name: value for name, value in vars(options).items() if name in keys}


def _keys(but: Collection[str]) -> dict[str, FieldInfo]:
    fields = CustomDataset.model_fields.items()
    return {name: field for name, field in fields if name not in {*SOURCES, *but}}
