"""What a configuration's studies select: variants with their settings, and the folds of each that are to be made here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from baselines import methods
from npt.interface import UserError
from workflow.config.old_reading import Config
from workflow.config.old_settings import as_json
from workflow.config.old_study import Study
from workflow.results.external_files import Model

Selected = tuple[str, str, str, dict[str, Any]]  # dataset, method, variant and resolved settings


def selection(study: Study, config: Config) -> Iterable[Selected]:
    """Everything that a study names."""
    for dataset in study.datasets:
        for method in study.methods:
            base: Mapping[str, Any] = {"base": {}} if study.base else {}
            own = study.variants.get(method, {})
            tried = trials(study, config, dataset, method)
            if both := sorted(set(tried) & set(own)):
                raise UserError(
                    f"studies.{study.name}.variants.{method}.{both[0]}: is a trial of this tuned study already"
                )
            for variant, changes in {**base, **tried, **own}.items():
                where = place(study, dataset, method, variant)
                settings = as_json(config.resolve(dataset, method, changes, where))
                if study.kind == "lookup" and settings.get("lookup") == "off":
                    raise UserError(
                        f"studies.{study.name}: {method} ({variant}) is not trained for it; give it a variant with `lookup`"
                    )
                yield dataset, method, variant, settings


def place(study: Study, dataset: str, method: str, variant: str) -> str:
    """The key under which a configuration names a variant: one of the study's own, or a trial."""
    own = variant in study.variants.get(method, {})
    return (
        f"studies.{study.name}.variants.{method}.{variant}"
        if own
        else f"configurations.{dataset}.{method}.{variant}"
    )


def trials(
    study: Study, config: Config, dataset: str, method: str
) -> Mapping[str, Mapping[str, Any]]:
    """The configurations of which a tuned study shows the best of each fold; empty for methods that tune themselves."""
    return config.trials(dataset, method) if study.tuned and methods()[method].draw else {}


def wanted_folds(
    config: Config,
    selected: Mapping[str, Iterable[Selected]],
    elsewhere: Mapping[str, Mapping[Model, Mapping[int, str]]],
) -> dict[Model, tuple[dict[str, Any], tuple[int, ...]]]:
    """Settings and all folds of every run that some study needs and no other machine's files have.

    Raises:
        UserError: two studies give one variant different settings.
    """
    wanted: dict[Model, tuple[dict[str, Any], tuple[int, ...]]] = {}
    owner: dict[Model, str] = {}
    for study in config.studies:
        for dataset, method, variant, settings in selected[study.name]:
            key = (dataset, method, variant)
            earlier, folds = wanted.get(key, (settings, ()))
            if earlier != settings:
                raise UserError(
                    f"{place(study, dataset, method, variant)}: differs from studies.{owner[key]}; "
                    "one variant has one meaning, so rename one of them"
                )
            missing = set(study.folds[dataset]) - set(elsewhere[study.name].get(key, ()))
            wanted[key] = (settings, tuple(sorted({*folds, *missing})))
            owner.setdefault(key, study.name)
    return wanted
