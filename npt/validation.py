"""Validation of user input by pydantic models: one line per mistake, with the nearest allowed name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from npt.interface import UserError, unknown

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A frozen model that refuses unknown keys and does not coerce types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def validated(model: type[Model], values: Any, where: str) -> Model:
    """An instance of a model from plain values.

    Args:
        where: key of the values in their file, such as `studies.main`; the keys inside are appended to it.

    Raises:
        UserError: one line with the key, what was found and what is allowed.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise user_error(error, model, where) from None


def user_error(error: ValidationError, model: type[BaseModel], where: str) -> UserError:
    """The first error of a validation as one line."""
    first = error.errors()[0]
    steps = [str(step) for step in first["loc"]]
    key = ".".join(step for step in (where, *steps) if step)
    kind, found = first["type"], first["input"]
    if kind == "extra_forbidden":
        parent = ".".join(step for step in (where, *steps[:-1]) if step)
        allowed = _fields(model, steps[:-1])
        if not allowed:
            return UserError(f"{key}: unknown key")
        prefix = f"{parent}: " if parent else ""
        return UserError(f"{prefix}{unknown(steps[-1], allowed)}")
    if kind == "missing":
        return UserError(f"{key}: missing")
    if kind == "literal_error":
        return UserError(f"{key}: {unknown(found, _literals(first['ctx']))}")
    if kind == "value_error":
        return UserError(f"{key}: {first['ctx']['error']}")
    message = first["msg"].removeprefix("Input ")
    return UserError(f"{key}: {found!r} {message}")


def _literals(context: Mapping[str, Any]) -> list[str]:
    """Allowed values of a literal, from pydantic's `'a', 'b' or 'c'`."""
    listed = str(context["expected"]).replace(" or ", ", ")
    return [value.strip("'") for value in listed.split(", ")]


def _fields(model: type[BaseModel], steps: list[str]) -> list[str]:
    """Names of the fields of the model that is nested at `steps`; empty if they lead elsewhere."""
    for step in steps:
        field = model.model_fields.get(step)
        if field is None:
            continue  # a key of a mapping or an index of a list
        nested = _nested(field.annotation)
        if nested is None:
            return []
        model = nested
    return list(model.model_fields)


def _nested(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        nested = _nested(argument)
        if nested is not None:
            return nested
    return None
