"""Settings of methods: from changes in a configuration to validated values, and to plain ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from baselines import baselines, methods
from npt.interface import Resources, UserError, unknown
from npt.table import TASKS
from npt.validation import validated

SCIENTIFIC = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")


def readable_numbers(value: Any) -> Any:
    """Settings with numbers such as `5e-4`, which YAML 1.1 reads as text, as numbers."""
    if value is None:
        return {}
    return _with_numbers(value)


def _with_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_numbers(inner) for inner in value]
    if isinstance(value, str) and SCIENTIFIC.fullmatch(value):
        return float(value)
    return value


def typed_settings(method: str, changes: Mapping[str, Any], where: str) -> Any:
    """An instance of the method's settings class.

    Raises:
        UserError: Names the key after `where`.
    """
    require_settings(method, changes, where)
    model = methods()[method].settings
    if issubclass(model, BaseModel):
        settings = validated(model, dict(changes), where)
    else:
        settings = _typed_dataclass(model, changes, where)
    _check_grid(method, settings)
    return settings


def as_json(settings: Any) -> dict[str, Any]:
    """Settings as plain values."""
    if isinstance(settings, BaseModel):
        return settings.model_dump()
    return asdict(settings)


def setting_names(method: str) -> list[str]:
    """Names of a method's settings."""
    model = methods()[method].settings
    if issubclass(model, BaseModel):
        return list(model.model_fields)
    return [field.name for field in fields(model)]


def require_settings(method: str, changes: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for a setting that the method does not have."""
    names = setting_names(method)
    for name in changes:
        if name not in names:
            raise UserError(f"{where}: {unknown(name, names)}")


def _typed_dataclass(model: type, changes: Mapping[str, Any], where: str) -> Any:
    try:
        return _adapter(model).validate_python(dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        raise UserError(f"{where}.{key}: {first['input']!r}: {first['msg']}") from None
    except UserError as error:
        raise UserError(f"{where}.{error}") from None


@cache
def _adapter(model: type) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _check_grid(method: str, settings: Any) -> None:
    """Raise `UserError` for a grid that a baseline cannot search."""
    if method not in baselines():
        return
    methods()[method].build(settings, Resources())
    for task in TASKS:
        next(iter(baselines()[method].configurations(settings, task, 1)))
