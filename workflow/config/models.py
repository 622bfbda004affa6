"""The configuration as pydantic models, with descriptions for the schema; and its studies."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.datasets import datasets as declared_datasets
from npt.data.declaration import Dataset
from npt.errors import UserError
from npt.metrics import PAPER_METRICS
from npt.table import Task
from npt.validation import Strict, validated
from workflow.config.fields import (
    BASE,
    Block,
    Budget,
    ByMethod,
    CustomDatasets,
    FoldNumbers,
    Folds,
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
from workflow.config.folds import format_folds
from workflow.config.scoring import Ranking, Scoring
from workflow.studies import kinds
from workflow.studies.study_kind import Options, StudyKind

LONGEST_NAME = 150  # of the folds of a block, in a file system's 255 letters


class StudyKeys(Strict):
    """Keys of a study that the plan takes as they are."""

    kind: KindName = "benchmark"
    """Kind of the study, a folder of `workflow/studies`."""

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


class StudyConfig(StudyKeys):
    """A study: a selection of runs and what it shows of them."""

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


class Study(StudyKeys):
    """A resolved study.

    Attributes:
        folds: By dataset.
        variants: Changes of settings by method and name; those of the kind where it names them.
        options: Those of the kind, as plain values.
        runs: Stems of its runs in the configuration's order, with the folds that it uses; each fold
            is a row. The plan fills them in.
    """

    name: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    folds: dict[str, Folds]
    seeds: tuple[int, ...]
    runs: dict[str, Folds] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """Key of the study in the configuration."""
        return f"studies.{self.name}"

    @property
    def declaration(self) -> StudyKind:
        """Declaration of its kind."""
        return kinds()[self.kind]

    @cached_property
    def typed_options(self) -> Options:
        """Its options as those of the kind."""
        return validated(self.declaration.options, self.options, f"{self.key}.options")

    def is_probed(self, method: str, variant: str) -> bool:
        """Whether the rows of a variant of a method are those of a probe."""
        kind = self.declaration
        if not kind.trains_variants:
            return kind.probes
        return kind.probes and variant == BASE and kind.can_probe(methods()[method])


def studies_of(config: Config) -> dict[str, Study]:
    """The studies of a configuration, in its order.

    Raises:
        UserError: A dataset has no such fold, or an option is not allowed.
    """
    studies = {}
    for name, block in config.studies.items():
        kind = kinds()[block.kind]
        datasets = _datasets_of(name, config, kind)
        names = config.methods if block.methods is None else block.methods
        options = validated(kind.options, block.options, f"studies.{name}.options")
        facts = block.model_dump(exclude={"except_datasets"})
        facts |= {
            "name": name,
            "datasets": datasets,
            "methods": names,
            "folds": {dataset: _folds_of(name, config, dataset) for dataset in datasets},
            "seeds": config.seeds if block.seeds is None else block.seeds,
            "options": options.model_dump(mode="json"),
        }
        if kind.trains_variants:
            variants = {method: kind.variants_of(methods()[method], options) for method in names}
            facts["variants"] = {method: named for method, named in variants.items() if named}
        studies[name] = Study(**facts)
    return studies


def _datasets_of(name: str, config: Config, kind: StudyKind) -> tuple[str, ...]:
    """The datasets that a study names; else those of the configuration, but the ones it omits."""
    block = config.studies[name]
    if block.datasets is not None:
        if block.except_datasets:
            raise UserError(f"studies.{name}.except_datasets: not allowed beside datasets")
        return block.datasets
    kept = []
    for dataset in config.datasets:
        declared = config.all_datasets[dataset]
        has_its_tables = not kind.probes or kind.realisations == declared.realisations
        has_its_task = kind.only_task in (None, declared.expected_task)
        if has_its_tables and has_its_task and dataset not in block.except_datasets:
            kept.append(dataset)
    if not kept:
        raise UserError(
            f"studies.{name}: can take none of the datasets {', '.join(config.datasets)}; "
            "name others under its `datasets`, or remove the study"
        )
    return tuple(kept)


def _folds_of(name: str, config: Config, dataset: str) -> Folds:
    rule = config.all_datasets[dataset].split_rule
    number = 1 if rule.fixed_test_rows or rule.by_time else rule.folds
    block = config.studies[name]
    key, folds = "folds", config.folds
    if block.folds is not None:
        key, folds = f"studies.{name}.folds", block.folds
    if not folds:
        return tuple(range(min(rule.used, number)))
    if number == 1 and folds[0] == 0:
        return (0,)  # a fixed test set beside tables with several folds
    if folds[-1] >= number:
        raise UserError(f"{key}: {folds[-1]} is outside the folds 0-{number - 1} of {dataset}")
    if len(format_folds(folds)) > LONGEST_NAME:
        raise UserError(f"{key}: too many ranges for the name of a file; choose adjoining folds")
    return folds
