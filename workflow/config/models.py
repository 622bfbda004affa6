"""The configuration as pydantic models; attribute docstrings become descriptions in the schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.datasets import datasets as declared_datasets
from npt.data.declaration import Dataset
from npt.interface import unknown
from npt.metrics import PAPER_METRICS
from npt.table import Task
from npt.validation import Strict
from workflow.config.folds import parse_folds
from workflow.config.scoring import Ranking, Scoring
from workflow.config.settings import readable_numbers
from workflow.studies import kinds

TUNED = "tuned"  # name of the variant that is the best configuration of each fold
RESERVED_VARIANTS = ("base", TUNED)
MOST_TRIALS = 10_000

Folds = tuple[int, ...]  # empty: all folds that a dataset uses


def _tuple_of(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(value)
    return value


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} occurs twice")
    return names


def _mapping(value: Any) -> Any:
    if value is None:
        return {}
    return value


def _named(blocks: Any) -> Any:
    """Blocks of custom datasets with their names."""
    if not isinstance(blocks, Mapping):
        return _mapping(blocks)
    named: dict[Any, Any] = {}
    for name, block in blocks.items():
        named[name] = block
        if isinstance(block, Mapping):
            named[name] = {**block, "name": name}
    return named


def _known_method(name: str) -> str:
    if name not in methods():
        raise ValueError(unknown(name, methods()))
    return name


def _known_kind(name: str) -> str:
    if name not in kinds():
        raise ValueError(unknown(name, kinds()))
    return name


def _not_reserved(name: str) -> str:
    if name in RESERVED_VARIANTS:
        raise ValueError(f"{name!r} cannot be the name of a variant")
    return name


def _folds(value: Any) -> Folds:
    if value == "all":
        return ()
    return parse_folds(value)


NAME_LIST: dict[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
}
NUMBER_LIST: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string"},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
    ]
}

MethodName = Annotated[str, AfterValidator(_known_method)]
KindName = Annotated[str, AfterValidator(_known_kind)]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
VariantName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$"),
    AfterValidator(_not_reserved),
]
Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_tuple_of),
    Field(min_length=1),
    AfterValidator(_unique),
    WithJsonSchema(NAME_LIST),
]
MethodNames = Annotated[
    tuple[MethodName, ...],
    BeforeValidator(_tuple_of),
    Field(min_length=1),
    AfterValidator(_unique),
    WithJsonSchema(NAME_LIST),
]
Paths = Annotated[tuple[str, ...], BeforeValidator(_tuple_of), WithJsonSchema(NAME_LIST)]
FoldNumbers = Annotated[Folds, PlainValidator(_folds), WithJsonSchema(NUMBER_LIST)]
Seeds = Annotated[tuple[int, ...], PlainValidator(parse_folds), WithJsonSchema(NUMBER_LIST)]
Trials = Annotated[int, Field(ge=1, le=MOST_TRIALS)]
CustomDatasets = Annotated[dict[Identifier, CustomDataset], BeforeValidator(_named)]
Settings = Annotated[dict[str, Any], BeforeValidator(readable_numbers)]
Variants = Annotated[dict[VariantName, Settings], BeforeValidator(_mapping)]
ByMethod = Annotated[dict[MethodName, Settings], BeforeValidator(_mapping)]
VariantsByMethod = Annotated[dict[MethodName, Variants], BeforeValidator(_mapping)]


class StudyConfig(Strict):
    """A study: a selection of runs and what it shows of them."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    renamed: ClassVar[Mapping[str, str]] = {
        "base": "include_base",
        "rows": "max_test_rows",
        "also": "external_results",
    }

    kind: KindName = "benchmark"
    """Kind of the study, a folder of `workflow/studies`."""

    datasets: Names | None = None
    """Names of datasets; default: those of the configuration."""

    methods: MethodNames | None = None
    """Names of methods; default: those of the configuration."""

    folds: FoldNumbers | None = None
    """Folds; default: those of the configuration."""

    seeds: Seeds | None = None
    """Random seeds of training; default: those of the configuration."""

    variants: VariantsByMethod = Field(default_factory=dict)
    """Named changes of a method's settings, by method and name."""

    include_base: bool = True
    """Whether every method also runs without changes, as the variant `base`."""

    max_test_rows: int | None = Field(default=None, ge=1)
    """Limit of the probed test rows of a fold, drawn at random; default: all."""

    tuned: bool = False
    """Whether the best configuration of each fold, by validation loss, stands for a method."""

    options: Annotated[dict[str, Any], BeforeValidator(_mapping)] = Field(default_factory=dict)
    """Options of the kind, see `docs/studies.md`."""

    external_results: Paths = ()
    """Results folders of other machines, or csv files, whose rows join the study."""


class Config(Strict):
    """All that the results of a run depend on, apart from where it runs."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    renamed: ClassVar[Mapping[str, str]] = {"tables": "custom_datasets"}

    preset: str = "custom"
    """Name of the configuration, shown with its results."""

    folds: FoldNumbers
    """Folds of every dataset: `all`, `3`, `0-2` or `[0, 1]`."""

    seeds: Seeds = (0,)
    """Random seeds of training: `0`, `0-2` or `[0, 1]`."""

    custom_datasets: CustomDatasets = Field(default_factory=dict)
    """Custom datasets by name, see `docs/data.md`."""

    datasets: Names
    """Names of declared or custom datasets."""

    methods: MethodNames
    """Names of methods."""

    settings: ByMethod = Field(default_factory=dict)
    """Changes of the default hyper-parameters, by method."""

    overrides: Annotated[dict[str, ByMethod], BeforeValidator(_mapping)] = Field(
        default_factory=dict
    )
    """Further changes for a dataset, by dataset and method."""

    configurations: Annotated[dict[str, VariantsByMethod], BeforeValidator(_mapping)] = Field(
        default_factory=dict
    )
    """Named changes among which tuned studies choose, by dataset, method and name."""

    budget: dict[MethodName, Trials] = Field(default_factory=dict)
    """Number of configurations to try: one number, or a number by method."""

    metrics: Annotated[dict[Task, str], BeforeValidator(_mapping)] = Field(default_factory=dict)
    """Metric of each task."""

    ranking: Ranking = "shared"
    """How ranks are computed: equal means share their rank, or the paper's convention."""

    studies: Annotated[dict[Identifier, StudyConfig], Field(min_length=1)]
    """Studies by name."""

    @field_validator("budget", mode="before")
    @classmethod
    def _budget_of_every_method(cls, value: Any) -> Any:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        return dict.fromkeys(methods(), value)

    @field_validator("studies", mode="before")
    @classmethod
    def _empty_studies(cls, value: Any) -> Any:
        """A study without keys may be written as `main:`."""
        if not isinstance(value, Mapping):
            return value
        return {name: _mapping(study) for name, study in value.items()}

    @cached_property
    def all_datasets(self) -> dict[str, Dataset | CustomDataset]:
        """Declared and custom datasets by name."""
        return {**declared_datasets(), **self.custom_datasets}

    @property
    def scoring(self) -> Scoring:
        """Metrics and ranking of the tables."""
        return Scoring({**PAPER_METRICS, **self.metrics}, self.ranking)
