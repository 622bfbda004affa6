"""What studies select: variants of methods on datasets with resolved settings."""

from __future__ import annotations

from typing import Any

from baselines import methods
from npt.errors import UserError
from npt.train_rows import TrainRows
from workflow.config.fields import BASE, TUNED
from workflow.config.models import Config
from workflow.config.resolution import Changes, resolve, trials
from workflow.config.study import Study
from workflow.planning.run import Run

MOST_RESULTS = 200_000  # of a study


def select(study: Study, config: Config) -> list[Run]:
    """All that a study names, in its order: runs of each variant, without seed and folds.

    Raises:
        UserError: A variant has the name of a trial, its settings are invalid, or the kind of
            the study refuses them, or they have too many results.
    """
    selected: list[Run] = []
    for dataset in study.datasets:
        for method in study.methods:
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

    runs: list[Run] = []
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
        train = kind.train_rows(variant, options)
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
