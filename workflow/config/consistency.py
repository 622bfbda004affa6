"""Checks across the keys of a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from baselines import methods
from npt.data.custom.file import file_at
from npt.data.datasets import datasets
from npt.errors import UserError, unknown
from npt.metrics import METRICS
from workflow.config.method_settings import require_settings
from workflow.config.models import Config
from workflow.config.study import Study, studies_of

DRAWN_TRIAL = re.compile(r"trial_\d+")


def check(config: Config) -> None:
    """Check a configuration whose single values are valid.

    Raises:
        UserError: One line with the key, what was found and what is allowed.
    """
    _check_letters(config.studies, "studies")
    _check_letters(config.custom_datasets, "custom_datasets")
    _check_custom_datasets(config)
    _check_datasets(config)
    _check_metrics(config)
    _check_settings(config)
    studies = list(studies_of(config).values())
    for study in studies:
        _check_study(study, config)
    _check_budget(config, studies)
    _check_configurations(config, studies)


def _check_letters(names: Iterable[str], key: str) -> None:
    """Names differ in more than capitals, as their files do on every system."""
    small: dict[str, str] = {}
    for name in names:
        other = small.setdefault(name.lower(), name)
        if other != name:
            raise UserError(f"{key}: {other} and {name} differ in capitals alone")


def _check_custom_datasets(config: Config) -> None:
    for name, dataset in config.custom_datasets.items():
        key = f"custom_datasets.{name}"
        if name in datasets():
            raise UserError(f"{key}: is the name of a declared dataset; choose another")
        if dataset.path and file_at(dataset.path) is None:
            raise UserError(f"{key}.path: {dataset.path}: no such file in {Path.cwd()}")


def _check_datasets(config: Config) -> None:
    names_by_key: dict[str, Iterable[str]] = {
        "datasets": config.datasets,
        "overrides": config.overrides,
        "configurations": config.configurations,
    }
    for name, study in config.studies.items():
        names_by_key[f"studies.{name}.datasets"] = study.datasets or ()
        names_by_key[f"studies.{name}.except_datasets"] = study.except_datasets
    for key, names in names_by_key.items():
        for name in names:
            if name not in config.all_datasets:
                raise UserError(f"{key}: {unknown(name, config.all_datasets)}")


def _check_metrics(config: Config) -> None:
    for task, metric in config.metrics.items():
        allowed = [name for name, known in METRICS.items() if task in known.tasks]
        if metric not in allowed:
            raise UserError(f"metrics.{task}: {unknown(metric, allowed)}")


def _check_settings(config: Config) -> None:
    for method, changes in config.settings.items():
        require_settings(method, changes, f"settings.{method}")
    for dataset, by_method in config.overrides.items():
        for method, changes in by_method.items():
            require_settings(method, changes, f"overrides.{dataset}.{method}")
    for dataset, variants_by_method in config.configurations.items():
        for method, variants in variants_by_method.items():
            for name, changes in variants.items():
                require_settings(method, changes, f"configurations.{dataset}.{method}.{name}")
    for study, block in config.studies.items():
        for method, variants in block.variants.items():
            for name, changes in variants.items():
                require_settings(method, changes, f"studies.{study}.variants.{method}.{name}")


def _check_study(study: Study, config: Config) -> None:
    _check_variants(study, config)
    _check_tasks(study, config)
    for method in study.methods:
        _check_method(study, config, method)
    if study.tuned and not study.include_base:
        raise UserError(f"{study.key}.tuned: not allowed with include_base: false")
    if study.tuned and study.kind.trains_variants:
        raise UserError(f"{study.key}.tuned: not allowed with {study.kind.name}")
    if study.external_results and study.kind.probes:
        raise UserError(f"{study.key}.external_results: not allowed with a probe")
    for name in study.external_results:
        if not name.endswith(".csv"):
            raise UserError(f"{study.key}.external_results: {name!r}; allowed: csv files")


def _check_variants(study: Study, config: Config) -> None:
    if study.kind.trains_variants:
        _check_own_variants(study, config)
        return
    for method in study.variants:
        if method not in study.methods:
            raise UserError(f"{study.key}.variants: {unknown(method, study.methods)}")
    if study.include_base:
        return
    for method in study.methods:
        if not study.variants.get(method):
            raise UserError(f"{study.key}.include_base: false leaves nothing of {method}")


def _check_own_variants(study: Study, config: Config) -> None:
    """The kind of such a study names its variants, which are compared with the base."""
    kind = study.kind.name
    if config.studies[study.name].variants:
        raise UserError(f"{study.key}.variants: not allowed with {kind}, which names them")
    if not study.include_base:
        raise UserError(f"{study.key}.include_base: false is not allowed with {kind}")
    if not study.variants:
        able = ", ".join(method.name for method in methods().values() if method.twins)
        raise UserError(f"{study.key}.methods: none has twins; one of {able} is needed")


def _check_tasks(study: Study, config: Config) -> None:
    allowed = study.kind.only_task
    if allowed is None:
        return
    for dataset in study.datasets:
        task = config.all_datasets[dataset].expected_task
        if task != allowed:
            kind = study.kind.name
            raise UserError(f"{study.key}.datasets: {dataset} is {task}; {kind} needs {allowed}")


def _check_method(study: Study, config: Config, name: str) -> None:
    """A method must support some dataset of the study, and its probe."""
    key = f"{study.key}.methods"
    method = methods()[name]
    try:
        method.require_libraries()
    except UserError as error:
        raise UserError(f"{key}: {error}") from None
    reasons: list[str] = []
    for dataset in study.datasets:
        declared = config.all_datasets[dataset]
        reason = method.refusal(declared.expected_task, realisations=declared.realisations)
        if reason is not None:
            reasons.append(reason)
    if len(reasons) == len(study.datasets):
        names = ", ".join(study.datasets)
        raise UserError(f"{key}: {name} supports none of {names}: {reasons[0]}")
    kind = study.kind
    if not kind.accepts(method):
        able = ", ".join(other.name for other in methods().values() if kind.accepts(other))
        raise UserError(f"{key}: {kind.name} cannot probe {name}; allowed: {able}")


def _check_budget(config: Config, studies: list[Study]) -> None:
    """A budget needs a tuned study and holds the named configurations."""
    used = {method for study in studies for method in study.methods}
    tuned = {method for study in studies if study.tuned for method in study.methods}
    if set(config.budget) == set(methods()):  # a single number is the budget of every method
        named_methods = used
    else:
        named_methods = set(config.budget)
    for method, number in config.budget.items():
        if methods()[method].draw is None:
            continue
        if method in named_methods - tuned:
            raise UserError(f"budget: no study of {method} has `tuned: true`")
        for dataset, by_method in config.configurations.items():
            named = len(by_method.get(method, {}))
            if number < 1 + named:
                key = f"configurations.{dataset}.{method}"
                raise UserError(f"budget: {number} is less than the base and the {named} of {key}")


def _check_configurations(config: Config, studies: list[Study]) -> None:
    """Configurations need a tuned study that chooses among them."""
    able = [name for name, method in methods().items() if method.draw is not None]
    tuned = [study for study in studies if study.tuned]
    for dataset, by_method in config.configurations.items():
        for method, variants in by_method.items():
            key = f"configurations.{dataset}.{method}"
            if method not in able:
                raise UserError(f"configurations.{dataset}: {unknown(method, able)}")
            if not any(_runs(study, dataset, method) for study in tuned):
                raise UserError(f"{key}: no study that runs it has `tuned: true`")
            for name in variants:
                if DRAWN_TRIAL.fullmatch(name):
                    raise UserError(f"{key}.{name}: reserved for drawn configurations")


def _runs(study: Study, dataset: str, method: str) -> bool:
    return dataset in study.datasets and method in study.methods
