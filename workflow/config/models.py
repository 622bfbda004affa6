"""The configuration as pydantic models; attribute docstrings become descriptions in the schema."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from npt.data.custom import CustomDataset
from npt.data.datasets import datasets as declared_datasets
from npt.data.declaration import Dataset
from npt.metrics import PAPER_METRICS
from npt.table import Task
from npt.validation import Strict
from workflow.config.fields import (
    Block,
    Budget,
    ByMethod,
    CustomDatasets,
    FoldNumbers,
    Identifier,
    KindName,
    MethodNames,
    Names,
    Paths,
    Seeds,
    Settings,
    Text,
    Title,
    VariantsByMethod,
    empty_if_none,
)
from workflow.config.scoring import Ranking, Scoring


class StudyConfig(Strict):
    """A study: a selection of runs and what it shows of them."""

    kind: KindName = "benchmark"
    """Kind of the study, a folder of `workflow/studies`."""

    datasets: Names | None = None
    """Names of datasets; default: those of the configuration that the kind can take."""

    except_datasets: Names = ()
    """Names of datasets of the configuration that this study leaves out."""

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
    """Whether the best configuration of each fold, by validation loss, represents a method."""

    options: Settings = Field(default_factory=dict)
    """Options of the kind, see `docs/studies.md`."""

    external_results: Paths = ()
    """Csv files of other methods, whose rows join the study."""


StudyBlock = Annotated[StudyConfig, BeforeValidator(empty_if_none)]


class Config(Strict):
    """All that the results of a run depend on, apart from where it runs."""

    preset: Title = "custom"
    """Name of the configuration, shown with its results."""

    note: Text = ""
    """What a reader must know of this configuration; the report shows it first, as it is."""

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

    overrides: Block[str, ByMethod] = Field(default_factory=dict)
    """Further changes for a dataset, by dataset and method."""

    configurations: Block[str, VariantsByMethod] = Field(default_factory=dict)
    """Named changes among which tuned studies choose, by dataset, method and name."""

    budget: Budget = Field(default_factory=dict)
    """Number of configurations to try: one number, or a number by method."""

    metrics: Block[Task, str] = Field(default_factory=dict)
    """Metric of each task."""

    ranking: Ranking = "shared"
    """How ranks are computed: equal means share their rank, or the paper's convention."""

    studies: Annotated[dict[Identifier, StudyBlock], Field(min_length=1)]
    """Studies by name."""

    @cached_property
    def all_datasets(self) -> dict[str, Dataset | CustomDataset]:
        """Declared and custom datasets by name."""
        return {**declared_datasets(), **self.custom_datasets}

    @property
    def scoring(self) -> Scoring:
        """Metrics and ranking of the tables."""
        return Scoring({**PAPER_METRICS, **self.metrics}, self.ranking)
