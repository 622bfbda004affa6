"""Declaration of a custom dataset: the keys of its block in the configuration."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from npt.data.custom.file import file_at, shape_of
from npt.data.declaration import PREPARATION, SplitRule
from npt.data.source import sha256_of
from npt.table import Task
from npt.validation import Strict

READING = 5  # version of the code that reads custom datasets, raised by hand when tables change
MOST_FOLDS = 10_000
UNKNOWN_SHAPE = (10_000, 30)  # rows and columns
CustomTask = Literal[Task, "classification"]


def _as_name(value: Any) -> Any:
    """A column may be named by a number in YAML."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a name; put quotes around a name such as 'yes'")
    if isinstance(value, int | float):
        return str(value)
    return value


def _as_names(value: Any) -> Any:
    """A single name stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


NameInput = str | float
Name = Annotated[str, BeforeValidator(_as_name, json_schema_input_type=NameInput)]
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(_as_names, json_schema_input_type=list[NameInput] | NameInput),
]


class CustomDataset(Strict):
    """A file or an OpenML dataset with its target."""

    in_paper: ClassVar[bool] = False
    realisations: ClassVar[bool] = False

    name: SkipJsonSchema[str] = ""
    """Identifier in paths and configurations."""

    path: str = ""
    """Text (.csv, .tsv, .tab, .txt, .data, .dat), .arff, also compressed; .parquet, .xlsx, .xls."""

    openml: Annotated[int, Field(ge=1)] | None = None
    """Number of a dataset of OpenML, instead of `path`."""

    openml_task: Annotated[int, Field(ge=1)] | None = None
    """Number of a task of OpenML, instead of `path`, whose folds are those of the task."""

    target: Annotated[Name, Field(min_length=1)]
    """Column to predict."""

    task: CustomTask
    """Prediction task."""

    categorical: Names = ()
    """Columns to read as categories; by default text, booleans, categories that the file declares,
    and numbers with leading zeros are."""

    continuous: Names = ()
    """Columns to read as numbers; by default numbers and dates are."""

    drop: Names = ()
    """Columns that are not features."""

    missing: Names = ()
    """Cells to read as missing; in text and Excel, those that are empty, NA, NaN, ... are, too."""

    separator: Annotated[str, Field(max_length=1)] = ""
    """Separator of a file of text, a blank for any number of blanks; inferred by default."""

    decimal: Annotated[str, Field(pattern=r"^[.,]$")] = "."
    """Decimal point of a file of text."""

    names: Names = ()
    """Names of the columns of a file of text without a header."""

    group: Name = ""
    """Column whose rows of equal value stay in one part of a fold; it is not a feature."""

    time: Name = ""
    """Column by which the last rows are tested, in a single fold."""

    folds: Annotated[int, Field(ge=2, le=MOST_FOLDS)] = 10
    """Number of folds; with `time`, one row in so many is tested. Of a task, with repetitions."""

    validation_share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Fraction of all rows; with `test_rows` or a task, of the rows that are not tested."""

    test_rows: Annotated[int, Field(ge=0)] = 0
    """Number of last rows that are the only test set, instead of folds."""

    @field_validator("path")
    @classmethod
    def _printable(cls, path: str) -> str:
        if not path.isprintable() or "{" in path or "}" in path:
            raise ValueError(
                f"{path!r} has a brace or an unprintable character, which no path may have"
            )
        return path

    @field_validator("separator")
    @classmethod
    def _single_character(cls, separator: str) -> str:
        if not separator.isascii() or separator in set('"\n\r'):
            raise ValueError(f"{separator!r} is not a character such as , or ;")
        return separator

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        sources = (self.path, self.openml, self.openml_task)
        if sum(map(bool, sources)) != 1:
            raise ValueError("path, openml or openml_task: exactly one of them is required")
        splitting = {
            "openml_task": self.openml_task,
            "group": self.group,
            "time": self.time,
            "test_rows": self.test_rows,
        }
        chosen = [key for key, value in splitting.items() if value]
        if len(chosen) > 1:
            raise ValueError(f"{chosen[0]}: cannot be combined with {chosen[1]}")
        shares_rows = not (self.test_rows or self.openml_task)
        if shares_rows and self.validation_share >= 1 - 1 / self.folds:
            raise ValueError(
                f"validation_share: {self.validation_share} leaves no train rows "
                f"with {self.folds} folds"
            )
        if self.target in (*self.categorical, *self.continuous):
            raise ValueError(
                f"target: the column type of {self.target!r} follows from the task; "
                "remove it from categorical and continuous"
            )
        return self

    @property
    def location(self) -> str:
        """Source that error messages name."""
        if self.openml_task is not None:
            return f"OpenML's task {self.openml_task}"
        return self.path or f"OpenML {self.openml}"

    @property
    def title(self) -> str:
        """Name in tables and figures."""
        return self.name

    @property
    def licence(self) -> str:
        """Licence of the data."""
        return "your own" if self.path else "see OpenML"

    @property
    def expected_task(self) -> Task:
        """Task that methods must support, before the table shows the number of classes."""
        return "multiclass" if self.task == "classification" else self.task

    @property
    def rows(self) -> int:
        """Rows of the file, about; a guess where it is no text or Parquet."""
        return self._shape[0]

    @property
    def columns(self) -> int:
        """Columns of the file, about; a guess where it is no text or Parquet."""
        return self._shape[1]

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return shape_of(self.path, self.separator) or UNKNOWN_SHAPE

    @property
    def split_rule(self) -> SplitRule:
        """How rows become folds."""
        return SplitRule(
            folds=self.folds,
            used=self.folds,
            validation_share=self.validation_share,
            fixed_test_rows=self.test_rows,
            by_time=bool(self.time),
            from_source=self.openml_task is not None,
        )

    def fingerprint(self) -> str:
        """Sixteen hex digits of the declaration, the file, and versions of the reading."""
        digest = hashlib.sha256(self.model_dump_json().encode())
        digest.update(f"{PREPARATION} {READING}".encode())
        file = file_at(self.path)
        if file is not None:
            digest.update(sha256_of(file).encode())
        return digest.hexdigest()[:16]
