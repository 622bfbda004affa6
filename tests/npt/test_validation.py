"""Errors of pydantic models as one line."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator

from npt.errors import UserError
from npt.validation import Strict, validated


class Inner(Strict):
    width: Annotated[int, Field(ge=1)] = 1


class Outer(Strict):
    name: str
    task: Literal["binary", "regression"] = "binary"
    inner: Inner = Inner()
    letter: Annotated[str, Field(max_length=1)] = ""
    names: Annotated[tuple[str, ...], Field(min_length=1)] = ("a",)
    pair: Annotated[tuple[str, ...], Field(max_length=2)] = ()
    by_name: dict[Annotated[str, Field(pattern="^[a-z]+$")], Inner] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _not_empty(cls, name: str) -> str:
        if not name:
            raise ValueError("is empty")
        return name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "top.name: missing"),
        ({"name": ""}, "top.name: is empty"),
        ({"name": 3}, "top.name: 3 should be a valid string"),
        ({"name": "a", "letter": "ab"}, "top.letter: 'ab' should have at most 1 character"),
        ({"name": "a", "names": ()}, "top.names: is empty"),
        (
            {"name": "a", "pair": ("a",) * 3},
            "top.pair: ('a', 'a', 'a') should have at most 2 items",
        ),
        ({"name": "a", "inner": {"width": 0}}, "top.inner.width: 0 "),
        ({"name": "a", "inner": {"width": True}}, "top.inner.width: True "),
        ({"name": "a", "task": "binar"}, "top.task: 'binar' is unknown; did you mean 'binary'?"),
        ({"nam": "a"}, "top: 'nam' is unknown; did you mean 'name'?"),
        ({"name": "a", "inner": {"wdth": 1}}, "top.inner: 'wdth' is unknown; did you mean 'width'"),
        ({"name": "a", "by_name": {"x": {"w": 1}}}, "top.by_name.x: 'w' is unknown"),
        ({"name": "a", "by_name": {"X": {}}}, "top.by_name: 'X' "),
    ],
)
def test_error_is_one_line_with_the_key(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        validated(Outer, values, "top")
    assert str(error.value).startswith(message), str(error.value)
    assert "\n" not in str(error.value)
