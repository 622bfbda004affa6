"""A study with everything filled in that its block leaves to the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset, SplitRule
from npt.errors import UserError
from npt.validation import validated
from workflow.config.fields import Folds
from workflow.config.folds import format_folds
from workflow.config.models import Config
from workflow.studies import kinds
from workflow.studies.study_kind import Options, StudyKind

LONGEST_NAME = 150  # of the folds of a block, in a file system's 255 letters
Variants = Mapping[str, Mapping[str, Any]]  # changes of settings by name


@dataclass(frozen=True)
class Study:
    """A resolved study; the fields are those of `StudyConfig`.

    Attributes:
        folds: By dataset.
        variants: By method and name; those of the kind where it names them.
    """

    name: str
    kind: StudyKind
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    folds: Mapping[str, Folds]
    seeds: tuple[int, ...]
    variants: Mapping[str, Variants]
    include_base: bool
    max_test_rows: int | None
    tuned: bool
    options: Options
    external_results: tuple[str, ...]

    @property
    def key(self) -> str:
        """Key of the study in the configuration."""
        return f"studies.{self.name}"


def studies_of(config: Config) -> dict[str, Study]:
    """The studies of a configuration, in its order.

    Raises:
        UserError: A dataset has no such fold, or an option is not allowed.
    """
    return {name: resolve_study(name, config) for name in config.studies}


def resolve_study(name: str, config: Config) -> Study:
    """The study of a name."""
    block = config.studies[name]
    kind = kinds()[block.kind]
    datasets = _datasets_of(name, config, kind)
    methods_of_study = config.methods if block.methods is None else block.methods
    options = validated(kind.options, block.options, f"studies.{name}.options")
    variants: Mapping[str, Variants] = block.variants
    if kind.trains_variants:
        variants = _variants_of(kind, methods_of_study, options)
    return Study(
        name=name,
        kind=kind,
        datasets=datasets,
        methods=methods_of_study,
        folds={dataset: _folds_of(name, config, dataset) for dataset in datasets},
        seeds=config.seeds if block.seeds is None else block.seeds,
        variants=variants,
        include_base=block.include_base,
        max_test_rows=block.max_test_rows,
        tuned=block.tuned,
        options=options,
        external_results=block.external_results,
    )


def _datasets_of(name: str, config: Config, kind: StudyKind) -> tuple[str, ...]:
    """The datasets that a study names; else those of the configuration, but the ones it omits."""
    block = config.studies[name]
    if block.datasets is not None:
        if block.except_datasets:
            raise UserError(f"studies.{name}.except_datasets: not allowed beside datasets")
        return block.datasets
    kept: list[str] = []
    for dataset in config.datasets:
        declared = config.all_datasets[dataset]
        if dataset not in block.except_datasets and _takes(kind, declared):
            kept.append(dataset)
    if not kept:
        raise UserError(
            f"studies.{name}: can take none of the datasets {', '.join(config.datasets)}; "
            "name others under its `datasets`, or remove the study"
        )
    return tuple(kept)


def _takes(kind: StudyKind, dataset: Dataset | CustomDataset) -> bool:
    """Whether a study of the kind can have the dataset."""
    if kind.probes and kind.realisations != dataset.realisations:
        return False
    return kind.only_task in (None, dataset.expected_task)


def _variants_of(kind: StudyKind, names: Iterable[str], options: Options) -> dict[str, Variants]:
    """Variants that a kind names, of the methods that have any."""
    variants: dict[str, Variants] = {}
    for name in names:
        of_method = kind.variants_of(methods()[name], options)
        if of_method:
            variants[name] = of_method
    return variants


def _folds_of(name: str, config: Config, dataset: str) -> Folds:
    rule = config.all_datasets[dataset].split_rule
    number = _number_of_folds(rule)
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


def _number_of_folds(rule: SplitRule) -> int:
    if rule.fixed_test_rows or rule.by_time:
        return 1
    return rule.folds
