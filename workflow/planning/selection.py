"""What studies select: variants of methods on datasets with resolved settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from baselines import methods
from npt.errors import UserError
from workflow.config.fields import BASE, TUNED
from workflow.config.method_settings import as_json
from workflow.config.models import Config
from workflow.config.resolution import resolve, trials
from workflow.config.study import Study
from workflow.planning.run import Run

Changes = Mapping[str, Any]


def select(study: Study, config: Config) -> list[Run]:
    """All that a study names, in its order: runs of each variant, without seed and folds.

    Raises:
        UserError: A variant has the name of a trial, its settings are invalid, or the kind of
            the study refuses them.
    """
    selected: list[Run] = []
    for dataset in study.datasets:
        for method in study.methods:
            selected += _variants(study, config, dataset, method)
    return selected


def _variants(study: Study, config: Config, dataset: str, method: str) -> Iterator[Run]:
    data = config.all_datasets[dataset].fingerprint()
    named = study.variants.get(method, {})
    tried: Mapping[str, Changes] = {}
    if study.tuned and methods()[method].draw is not None:  # others tune themselves
        tried = trials(config, dataset, method)
    for name in named:
        if name in tried:
            raise UserError(f"{study.key}.variants.{method}.{name}: is a trial of the study")
    kind = study.declaration
    options = study.typed_options
    base: dict[str, Any] = {}
    if tried or study.include_base:
        base = as_json(resolve(config, dataset, method, {}))
    facts: dict[str, Any] = {"dataset": dataset, "method": method, "data": data}
    if tried:
        settings_by_trial: dict[str, dict[str, Any]] = {}
        for name, changes in tried.items():
            where = f"configurations.{dataset}.{method}.{name}"
            settings_by_trial[name] = as_json(resolve(config, dataset, method, changes, where))
            _refuse(study, method, name, settings_by_trial[name])
        yield Run(**facts, variant=TUNED, settings=base, trials=settings_by_trial)
    elif study.include_base:
        _refuse(study, method, BASE, base)
        yield Run(**facts, variant=BASE, settings=base)
    for variant, changes in named.items():
        where = variant_key(study, method, variant)
        settings = as_json(resolve(config, dataset, method, changes, where))
        share = kind.train_share(variant, options)
        if kind.trains_variants and settings == base and share == 1.0:
            continue  # the base is without this source of information
        _refuse(study, method, variant, settings)
        yield Run(**facts, variant=variant, settings=settings, train_share=share)


def variant_key(study: Study, method: str, variant: str) -> str:
    """Key of a named variant; those that a kind names have none in the configuration."""
    if study.declaration.trains_variants:
        return f"{study.key}: {variant} of {method}"
    return f"{study.key}.variants.{method}.{variant}"


def _refuse(study: Study, method: str, variant: str, settings: Mapping[str, Any]) -> None:
    refusal = study.declaration.refuse(settings, study.typed_options)
    if refusal:
        raise UserError(f"{study.key}.methods: {method} ({variant}): {refusal}")
