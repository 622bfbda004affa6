"""Validation of user input by pydantic models: an error is one line with the nearest name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import SkipJsonSchema

from npt.errors import UserError, unknown

Model = TypeVar("Model", bound=BaseModel)
Details = Mapping[str, Any]  # pydantic's description of an error
WORDS = {  # for pydantic's types, in the words of YAML
    "tuple_type": "should be a list",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "bool_type": "should be true or false",
}
MOST_SHOWN = 100  # letters of a value that is not allowed
SUBJECT = re.compile(r"^\w+ (?=should )")  # which pydantic puts before a message


class Strict(BaseModel):
    """A frozen model that refuses unknown keys and does not coerce types.

    Fields that are no keys of a configuration have the type `SkipJsonSchema`.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    def changed(self, **changes: Any) -> Self:
        """The same with other values of some fields, validated."""
        return type(self)(**{**self.model_dump(), **changes})


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
    unknown_keys = [details for details in errors if details["type"] == "extra_forbidden"]
    first = (unknown_keys or errors)[0]
    steps = [str(step) for step in first["loc"]]
    if unknown_keys:
        message = _unknown_key(model, steps)
        steps.pop()
    else:
        message = " ".join(_message(first).split())
    if steps and steps[-1] == "[key]":
        steps = steps[:-2]
    if where:
        steps.insert(0, where)
    if not steps:
        return UserError(message)
    key = ".".join(steps)
    return UserError(f"{key}: {message}")


def _unknown_key(model: type[BaseModel], steps: list[str]) -> str:
    *parents, key = steps
    inner = _model_at(model, parents)
    if inner is None:
        return f"{key!r} is unknown"
    hidden = SkipJsonSchema()  # pyright: ignore[reportCallIssue]
    fields = inner.model_fields.items()
    return unknown(key, [name for name, field in fields if hidden not in field.metadata])


def _message(error: Details) -> str:
    kind = error["type"]
    if kind == "missing":
        return "missing"
    if kind == "json_invalid":
        return f"not JSON ({error['msg']})"
    if kind == "literal_error":
        return unknown(error["input"], _literals(error["ctx"]))
    if kind in ("value_error", "assertion_error"):
        return str(error["ctx"]["error"])
    if kind in WORDS:
        return f"{_shown(error['input'])} {WORDS[kind]}"
    if kind in ("too_short", "string_too_short") and not error["input"]:
        return "is empty"
    message = SUBJECT.sub("", error["msg"]).replace(" after validation", "")
    if isinstance(error["input"], str):
        message = message.replace(" items", " characters")
    return f"{_shown(error['input'])} {message}"


def _shown(value: Any) -> str:
    """A value as Python writes it, the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _literals(context: Details) -> list[str]:
    """Allowed values of a literal, from pydantic's `'a', 'b' or 'c'`."""
    listed = str(context["expected"]).replace(" or ", ", ")
    return [value.strip("'") for value in listed.split(", ")]


def _model_at(model: type[BaseModel], steps: list[str]) -> type[BaseModel] | None:
    """The model that is nested at `steps`; None if there is none."""
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
