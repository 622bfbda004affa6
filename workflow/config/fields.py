"""Types of the configuration's fields, with their validation and schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, StringConstraints

from baselines import methods
from npt.data.custom import CustomDataset
from npt.errors import UserError, unknown
from workflow.config.folds import parse_folds
from workflow.studies import kinds

BASE = "base"  # name of the variant without changes
TUNED = "tuned"  # name of the variant that is the best configuration of each fold
RESERVED_VARIANTS = re.compile(rf"{BASE}|{TUNED}|trial_\d+")  # of these, searches draw the last
MOST_TRIALS = 10_000

Folds = tuple[int, ...]  # empty: all folds that a dataset uses


def _tuple_of(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(value)
    return value


def distinct(names: Any) -> Any:
    """Names, each of which occurs once."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} occurs twice")
    return names


def empty_if_none(value: Any) -> Any:
    """An empty mapping for a key without a value."""
    if value is None:
        return {}
    return value


def _named(blocks: Any) -> Any:
    """Blocks of custom datasets with their names, without the keys that have no value."""
    if not isinstance(blocks, Mapping):
        return empty_if_none(blocks)
    named: dict[Any, Any] = {}
    for name, block in blocks.items():
        named[name] = block
        if isinstance(block, Mapping):
            if "name" in block:
                raise UserError(f"custom_datasets.{name}: 'name' is unknown; {name!r} is the name")
            with_values = {key: value for key, value in block.items() if value is not None}
            named[name] = {**with_values, "name": name}
    return named


def _budget(value: Any) -> Any:
    """A single number is the budget of every method."""
    if isinstance(value, Mapping):
        return value
    if value is None:
        return {}
    return dict.fromkeys(methods(), value)


def _known(names_of: Callable[[], Iterable[str]]) -> AfterValidator:
    """Requires one of some names."""

    def check(name: str) -> str:
        if name not in names_of():
            raise ValueError(unknown(name, names_of()))
        return name

    return AfterValidator(check)


def _not_reserved(name: str) -> str:
    if RESERVED_VARIANTS.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a variant")
    return name


def _identifier(name: Any) -> str:
    if not isinstance(name, str) or not re.search(IDENTIFIER, name):
        raise ValueError(
            f"{name!r} is not a name; allowed: letters, digits and _ after a letter, 64 in all, in "
            "quotes where YAML would read a word such as yes as a value"
        )
    return name


def _folds(value: Any) -> Folds:
    if value == "all":
        return ()
    return parse_folds(value)


def _in_one_line(text: str) -> str:
    """Text as a line of a page and of a log."""
    line = " ".join(text.split())
    if not line.isprintable():
        raise ValueError(f"{text!r} has a character that cannot be printed")
    return line


MOST_LETTERS = 100
IDENTIFIER = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"

Text = Annotated[str, AfterValidator(_in_one_line)]
Title = Annotated[Text, StringConstraints(max_length=MOST_LETTERS)]
MethodName = Annotated[str, _known(methods)]
KindName = Annotated[str, _known(kinds)]
Identifier = Annotated[str, StringConstraints(pattern=IDENTIFIER), BeforeValidator(_identifier)]
VariantName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$", max_length=MOST_LETTERS),
    AfterValidator(_not_reserved),
]
Key = TypeVar("Key")
Value = TypeVar("Value")
Items = Annotated[tuple[Value, ...], BeforeValidator(_tuple_of, str | list[str])]
DistinctItems = Annotated[Items[Value], Field(min_length=1), AfterValidator(distinct)]
Paths = Items[str]
Names = DistinctItems[str]
MethodNames = DistinctItems[MethodName]
Numbers = int | str | list[int]
FoldNumbers = Annotated[Folds, PlainValidator(_folds, Numbers)]
Seeds = Annotated[tuple[int, ...], PlainValidator(parse_folds, Numbers)]
Trials = Annotated[int, Field(ge=1, le=MOST_TRIALS)]
CustomDatasets = Annotated[dict[Identifier, CustomDataset], BeforeValidator(_named)]
Budget = Annotated[
    dict[MethodName, Trials], BeforeValidator(_budget, Trials | dict[MethodName, Trials] | None)
]
Block = Annotated[dict[Key, Value], BeforeValidator(empty_if_none)]
Settings = Block[str, Any]
ByMethod = Block[MethodName, Settings]
VariantsByMethod = Block[MethodName, Block[VariantName, Settings]]
