"""Plan of a configuration: its runs, each once, and what every study consists of."""

from __future__ import annotations

from itertools import product
from typing import Any

from baselines import methods
from npt.data import store
from npt.data.custom import CustomDataset
from npt.data.datasets import datasets as declared_datasets
from npt.data.declaration import Dataset
from npt.errors import UserError
from npt.train_rows import TrainRows
from npt.validation import Strict
from workflow.config.fields import BASE, TUNED
from workflow.config.models import Config, Study, studies_of
from workflow.config.resolution import Changes, resolve, trials
from workflow.config.scoring import Scoring
from workflow.planning import paths
from workflow.planning.run import Run

MOST_RESULTS = 200_000  # of a study


class Plan(Strict):
    """All that the steps need of a configuration.

    Attributes:
        custom_datasets: Declarations of the custom datasets, by name.
        runs: By stem.
        studies: By name, in the configuration's order.
    """

    preset: str
    note: str = ""
    scoring: Scoring
    custom_datasets: dict[str, CustomDataset]
    runs: dict[str, Run]
    studies: dict[str, Study]

    @classmethod
    def from_config(cls, config: Config) -> Plan:
        """The plan of a configuration.

        Raises:
            UserError: Settings are invalid, or two studies disagree about a variant.
        """
        selections = [(study, select(study, config)) for study in studies_of(config).values()]
        blocks = _blocks(selections)
        runs = {run.stem: run for block in blocks.values() for run in block}
        planned: dict[str, Study] = {}
        for study, variants in selections:
            folds_by_stem: dict[str, tuple[int, ...]] = {}
            for variant, seed in product(variants, study.seeds):
                for run in blocks[variant.key, seed]:
                    wanted = study.folds[run.dataset]
                    folds = tuple(fold for fold in run.folds if fold in wanted)
                    if folds:
                        folds_by_stem[run.stem] = folds
            planned[study.name] = study.model_copy(update={"runs": folds_by_stem})
        return cls(
            preset=config.preset,
            note=config.note,
            scoring=config.scoring,
            custom_datasets=config.custom_datasets,
            runs=runs,
            studies=planned,
        )

    def prepared(self, name: str) -> store.Prepared:
        """A prepared dataset.

        Raises:
            UserError: It is damaged, or of another declaration or file than those of the plan.
        """
        path = paths.prepared(name)
        prepared = store.load(path)
        planned = self.dataset_fingerprints[name]
        found = prepared.facts.get("fingerprint", planned)  # those of older versions have none
        if found != planned:
            text = f"fingerprint: {found}, planned {planned}; remove it and run again"
            raise UserError(f"{path}: {text}")
        return prepared

    @property
    def dataset_fingerprints(self) -> dict[str, str]:
        """Fingerprints of all datasets by name."""
        return {run.dataset: run.data for run in self.runs.values()}

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets of the plan."""
        return sorted(self.dataset_fingerprints)

    def dataset(self, name: str) -> Dataset | CustomDataset:
        """Declaration of a dataset of the plan."""
        return self.custom_datasets.get(name) or declared_datasets()[name]

    def runs_of(self, study: Study) -> list[Run]:
        """Runs of a study."""
        return [self.runs[stem] for stem in study.runs]

    def probes_of(self, run: Run) -> list[Study]:
        """Studies that probe the models of a run."""
        studies = [study for study in self.studies.values() if run.stem in study.runs]
        return [study for study in studies if study.is_probed(run.method, run.variant)]


def _blocks(selections: list[tuple[Study, list[Run]]]) -> dict[tuple[str, int], list[Run]]:
    """Runs of all folds that studies need, by key and seed, in blocks as the methods declare."""
    wanted: dict[tuple[str, int], set[int]] = {}
    variants: dict[str, Run] = {}
    for study, selected in selections:
        for variant in selected:
            if variants.setdefault(variant.key, variant) != variant:
                key = variant_key(study, variant.method, variant.variant)
                raise UserError(f"{key}: has other settings in another study; rename one of them")
            for seed in study.seeds:
                folds_of_key = wanted.setdefault((variant.key, seed), set())
                folds_of_key.update(study.folds[variant.dataset])
    blocks = {}
    for (key, seed), wanted_folds in wanted.items():
        folds = sorted(wanted_folds)
        variant = variants[key]
        size = methods()[variant.method].folds_per_job(variant.settings) or len(folds)
        blocks[key, seed] = [
            variant.model_copy(update={"seed": seed, "folds": tuple(folds[start : start + size])})
            for start in range(0, len(folds), size)
        ]
    return blocks


def select(study: Study, config: Config) -> list[Run]:
    """All that a study names, in its order: runs of each variant, without seed and folds.

    Raises:
        UserError: A variant has the name of a trial, its settings are invalid, or the kind of
            the study refuses them, or they have too many results.
    """
    selected = []
    for dataset, method in product(study.datasets, study.methods):
        selected += _variants(study, config, dataset, method)
    results = len(study.seeds) * sum(len(study.folds[run.dataset]) for run in selected)
    if results > MOST_RESULTS:
        raise UserError(
            f"{study.key}: {results} results of variants, seeds and folds; "
            f"allowed: up to {MOST_RESULTS}"
        )
    return selected


def _variants(study: Study, config: Config, dataset: str, method: str) -> list[Run]:
    kind = study.declaration
    options = study.typed_options
    named = study.variants.get(method, {})
    data = config.all_datasets[dataset].fingerprint()
    facts: dict[str, Any] = {"dataset": dataset, "method": method, "data": data}

    def settings_of(changes: Changes, where: str = "") -> dict[str, Any]:
        return resolve(config, dataset, method, changes, where).model_dump(mode="json")

    runs = []
    if study.tuned and methods()[method].draw is not None:  # others tune themselves
        tried: dict[str, dict[str, Any]] = {}
        for name, changes in trials(config, dataset, method).items():
            if name in named:
                raise UserError(f"{study.key}.variants.{method}.{name}: is a trial of the study")
            where = f"configurations.{dataset}.{method}.{name}"
            tried[name] = settings_of(changes, where)
        runs.append(Run(**facts, variant=TUNED, settings=tried[BASE], trials=tried))
    elif study.include_base:
        runs.append(Run(**facts, variant=BASE, settings=settings_of({})))
    for variant, changes in named.items():
        where = variant_key(study, method, variant)
        settings = settings_of(changes, where)
        train = kind.train_rows(variant)
        if kind.trains_variants and settings == runs[0].settings and train == TrainRows():
            continue  # the base is without this source of information
        runs.append(Run(**facts, variant=variant, settings=settings, train=train))
    for run in runs:
        for training in run.trainings:
            refusal = kind.refuse(training.settings, options)
            if refusal:
                key = f"{study.key}.methods: {method} ({training.variant})"
                raise UserError(f"{key}: {refusal}")
    return runs


def variant_key(study: Study, method: str, variant: str) -> str:
    """Key of a named variant; those that a kind names have none in the configuration."""
    if study.declaration.trains_variants:
        return f"{study.key}: {variant} of {method}"
    return f"{study.key}.variants.{method}.{variant}"
