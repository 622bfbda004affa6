"""Whether the pieces of a configuration have the form and the names that they must have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from npt.interface import UserError, unknown

Settings = Mapping[str, Any]


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """What stands at a key, which may be empty."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UserError(f"{where}: {value!r} is not a mapping of keys to values")
    return value


def changes_by_method(value: Any, allowed: Mapping[str, Any], where: str) -> dict[str, Settings]:
    """A mapping of methods to mappings; an empty value is an empty mapping."""
    given = mapping(value, where)
    require_known(given, allowed, where)
    return {method: mapping(changes, f"{where}.{method}") for method, changes in given.items()}


def list_of_names(value: Any, allowed: Mapping[str, Any], where: str, own: bool) -> tuple[str, ...]:
    """Names that are allowed, each once; `where` they stand, or at its last key alone if they are not a study's `own`."""
    where = where if own else where.rpartition(".")[2]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise UserError(f"{where}: {value!r} is not a list of names")
    require_known(names, allowed, where)
    if len(set(names)) < len(names):
        raise UserError(f"{where}: {next(n for n in names if names.count(n) > 1)} occurs twice")
    return tuple(names)


def require_known(names: Iterable[Any], allowed: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for a name that is not allowed."""
    for name in names:
        if not isinstance(name, str) or name not in allowed:
            raise UserError(f"{where}: {unknown(name, allowed)}")


def require_keys(raw: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise `UserError` for a key that is not allowed."""
    names = list(allowed)
    for key in raw:
        if key not in names:
            raise UserError(f"{where}: {unknown(key, names)}")


def require_identifier(name: Any, where: str, kind: str) -> None:
    """Raise `UserError` unless the name of something of the user's fits into paths."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
        raise UserError(
            f"{where}: a {kind}'s name is a letter, then letters, digits and _, at most 64 in all"
        )


def typed(kind: type, values: Mapping[str, Any], where: str) -> Any:
    """An instance of a dataclass from plain values; what does not fit is named with its place."""
    try:
        return _adapter(kind).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"{where}.{'.'.join(map(str, first['loc']))}: {first['input']!r}: {first['msg']}"
        ) from None
    except UserError as error:
        raise UserError(f"{where}.{error}") from None


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
