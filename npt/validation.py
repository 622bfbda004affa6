"""Validation of user input by pydantic models: an error is one line with the nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from npt.interface import UserError, unknown

Model = TypeVar("Model", bound=BaseModel)
Details = Mapping[str, Any]  # pydantic's description of an error


class Strict(BaseModel):
    """A frozen model that refuses unknown keys and does not coerce types.

    Attributes:
        renamed: Former names of keys, for the hint of an error.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    renamed: ClassVar[Mapping[str, str]] = {}


def validated(model: type[Model], values: Any, where: str) -> Model:
    """An instance of a model from plain values.

    Args:
        where: Key of the values in their file, such as `studies.main`; inner keys are appended.

    Raises:
        UserError: One line with the key, what was found and what is allowed.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise user_error(error, model, where) from None


def user_error(error: ValidationError, model: type[BaseModel], where: str) -> UserError:
    """The first error of a validation as one line; unknown keys come before other errors."""
    errors = error.errors()
    unknown_keys = [each for each in errors if each["type"] == "extra_forbidden"]
    first = (unknown_keys or errors)[0]
    steps = [str(step) for step in first["loc"]]
    if unknown_keys:
        return UserError(_unknown_key(model, where, steps))
    if steps and steps[-1] == "[key]":
        steps = steps[:-2]
    key = ".".join(step for step in (where, *steps) if step)
    message = " ".join(_message(first).split())
    return UserError(f"{key}: {message}" if key else message)


def _unknown_key(model: type[BaseModel], where: str, steps: list[str]) -> str:
    parent = ".".join(step for step in (where, *steps[:-1]) if step)
    prefix = f"{parent}: " if parent else ""
    inner = _model_at(model, steps[:-1])
    if inner is None:
        return f"{prefix}{steps[-1]!r} is unknown"
    new_name = getattr(inner, "renamed", {}).get(steps[-1])
    if new_name:
        return f"{prefix}{steps[-1]!r} is unknown; its name is {new_name!r} now"
    if not inner.model_fields:
        return f"{prefix}{steps[-1]!r} is unknown; allowed: no keys"
    return prefix + unknown(steps[-1], inner.model_fields)


def _message(error: Details) -> str:
    kind = error["type"]
    if kind == "missing":
        return "missing"
    if kind == "literal_error":
        return unknown(error["input"], _literals(error["ctx"]))
    if kind in ("value_error", "assertion_error"):
        return str(error["ctx"]["error"])
    message = error["msg"].removeprefix("Input ")
    return f"{error['input']!r} {message}"


def _literals(context: Details) -> list[str]:
    """Allowed values of a literal, from pydantic's `'a', 'b' or 'c'`."""
    listed = str(context["expected"]).replace(" or ", ", ")
    return [value.strip("'") for value in listed.split(", ")]


def _model_at(model: type[BaseModel], steps: list[str]) -> type[BaseModel] | None:
    """The model that is nested at `steps`; None if they lead elsewhere."""
    for step in steps:
        field = model.model_fields.get(step)
        if field is None:
            continue  # a key of a mapping or an index of a list
        nested = _nested(field.annotation)
        if nested is None:
            return None
        model = nested
    return model


def _nested(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        nested = _nested(argument)
        if nested is not None:
            return nested
    return None
