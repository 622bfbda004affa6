"""Checks across the keys of a configuration."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from baselines import methods
from npt.data.custom.file import file_at
from npt.data.datasets import datasets
from npt.errors import UserError, errors_at, require_known
from npt.metrics import metrics_of
from workflow.config.models import Config, Study, studies_of
from workflow.config.resolution import require_settings


def check(config: Config) -> None:
    """Check a configuration whose single values are valid.

    Raises:
        UserError: One line with the key, what was found and what is allowed.
    """
    _check_names(config)
    _check_settings(config)
    studies = list(studies_of(config).values())
    for study in studies:
        _check_study(study, config)
    _check_tuning(config, studies)


def _check_names(config: Config) -> None:
    """Names of datasets and metrics, and files of custom datasets."""
    for name, dataset in config.custom_datasets.items():
        key = f"custom_datasets.{name}"
        if name in datasets():
            raise UserError(f"{key}: is the name of a declared dataset; choose another")
        if dataset.path and file_at(dataset.path) is None:
            raise UserError(f"{key}.path: {dataset.path}: no such file in {Path.cwd()}")
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
            require_known(name, config.all_datasets, key)
    for task, metric in config.metrics.items():
        require_known(metric, metrics_of(task), f"metrics.{task}")


def _check_settings(config: Config) -> None:
    """Names of all settings, those of methods that no study runs, too."""
    for method, changes in config.settings.items():
        require_settings(method, changes, f"settings.{method}")
    for dataset, by_method in config.overrides.items():
        for method, changes in by_method.items():
            require_settings(method, changes, f"overrides.{dataset}.{method}")
    named = {f"configurations.{dataset}": names for dataset, names in config.configurations.items()}
    named |= {f"studies.{name}.variants": block.variants for name, block in config.studies.items()}
    for key, variants_by_method in named.items():
        for method, variants in variants_by_method.items():
            for name, changes in variants.items():
                require_settings(method, changes, f"{key}.{method}.{name}")


def _check_study(study: Study, config: Config) -> None:
    kind = study.declaration
    block = config.studies[study.name]
    if kind.trains_variants:
        # Such a kind names its variants itself, and compares them with the base.
        refused = {
            "variants": bool(block.variants),
            "include_base: false": not study.include_base,
            "tuned": study.tuned,
        }
        for key, is_set in refused.items():
            if is_set:
                raise UserError(f"{study.key}.{key}: not allowed with {kind.name}")
        if not study.variants:
            able = ", ".join(method.name for method in methods().values() if method.twins)
            raise UserError(f"{study.key}.methods: none has twins; one of {able} is needed")
    else:
        _check_variants(study)
    for dataset in study.datasets:
        task = config.all_datasets[dataset].expected_task
        if kind.only_task not in (None, task):
            reason = f"{dataset} is {task}; {kind.name} needs {kind.only_task}"
            raise UserError(f"{study.key}.datasets: {reason}")
    for name in study.methods:
        method = methods()[name]
        with errors_at(f"{study.key}.methods"):
            method.require_libraries()
            if not kind.accepts(method):
                able = ", ".join(other.name for other in methods().values() if kind.accepts(other))
                raise UserError(f"{kind.name} cannot probe {name}; allowed: {able}")
    if study.max_test_rows is not None and not kind.probes:
        raise UserError(f"{study.key}.max_test_rows: {kind.name} probes no rows")
    if kind.realisations and len(study.datasets) > 1:
        names = ", ".join(study.datasets)
        raise UserError(f"{study.key}.datasets: {kind.name} takes one; found {names}")
    for name in study.external_results:
        takes_none = kind.probes or kind.trains_variants  # whose variants only the kind names
        if takes_none or not name.endswith(".csv") or not Path(name).is_file():
            allowed = f"none of the kind {kind.name}" if takes_none else "csv files that exist"
            raise UserError(f"{study.key}.external_results: {name!r}; allowed: {allowed}")


def _check_variants(study: Study) -> None:
    for method in study.variants:
        require_known(method, study.methods, f"{study.key}.variants")
    if study.include_base:
        return
    if study.tuned:
        raise UserError(f"{study.key}.tuned: not allowed with include_base: false")
    for method in study.methods:
        if not study.variants.get(method):
            raise UserError(f"{study.key}.include_base: false leaves nothing of {method}")


def _check_tuning(config: Config, studies: list[Study]) -> None:
    """Named configurations and a budget need a tuned study that chooses among them."""
    able = [name for name, method in methods().items() if method.draw is not None]
    tuned: set[tuple[str, str]] = set()
    for study in studies:
        if study.tuned:
            tuned.update(product(study.datasets, study.methods))
    tuned_methods = {method for _, method in tuned}
    used = {method for study in studies for method in study.methods}
    for method in config.budget:
        if method in able and method in used - tuned_methods:
            raise UserError(f"budget: no study of {method} has `tuned: true`")
    for dataset, by_method in config.configurations.items():
        for method, named in by_method.items():
            key = f"configurations.{dataset}.{method}"
            require_known(method, able, f"configurations.{dataset}")
            if (dataset, method) not in tuned:
                raise UserError(f"{key}: no study that runs it has `tuned: true`")
            budget = config.budget.get(method)
            if budget is not None and budget < 1 + len(named):
                raise UserError(
                    f"budget: {budget} is less than the base and the {len(named)} of {key}"
                )
