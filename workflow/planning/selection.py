"""What studies select: variants of methods on datasets with resolved settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from baselines import methods
from npt.errors import UserError
from workflow.config.fields import BASE, TUNED
from workflow.config.method_settings import as_json
from workflow.config.models import Config
from workflow.config.resolution import resolve, trials
from workflow.config.study import Study
from workflow.planning.paths import run_key

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Selected:
    """A variant of a method on a dataset.

    Attributes:
        settings: Resolved, as plain values.
        where: Key of the variant in the configuration.
        trials: Resolved settings of the configurations of a search by name; else empty.
        train_share: Share of the train rows that it is trained on.
    """

    dataset: str
    method: str
    variant: str
    settings: dict[str, Any]
    where: str
    trials: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    train_share: float = 1.0

    @property
    def key(self) -> str:
        """dataset/method/variant."""
        return run_key(self.dataset, self.method, self.variant)


def select(study: Study, config: Config) -> list[Selected]:
    """All that a study names, in its order.

    Raises:
        UserError: A variant has the name of a trial, its settings are invalid, or the kind of
            the study refuses them.
    """
    selected: list[Selected] = []
    for dataset in study.datasets:
        for method in study.methods:
            selected += _variants(study, config, dataset, method)
    return selected


def _variants(study: Study, config: Config, dataset: str, method: str) -> Iterator[Selected]:
    tried = _trials(study, config, dataset, method)
    named = study.variants.get(method, {})
    for name in named:
        if name in tried:
            raise UserError(f"{study.key}.variants.{method}.{name}: is a trial of the study")
    variants: dict[str, Changes] = {}
    if tried:
        yield _search(study, config, dataset, method, tried)
    elif study.include_base:
        variants[BASE] = {}
    variants.update(named)
    base: dict[str, Any] = {}
    for variant, changes in variants.items():
        where = f"configurations.{dataset}.{method}.{variant}"
        if variant in named:
            where = _where(study, method, variant)
        settings = as_json(resolve(config, dataset, method, changes, where))
        if variant == BASE:
            base = settings
        share = study.kind.train_share(variant, study.options)
        is_base = settings == base and share == 1.0
        if study.kind.trains_variants and is_base and variant != BASE:
            continue  # the base is without this source of information
        _refuse(study, method, variant, settings)
        yield Selected(
            dataset=dataset,
            method=method,
            variant=variant,
            settings=settings,
            where=where,
            train_share=share,
        )


def _where(study: Study, method: str, variant: str) -> str:
    """Key of a named variant; those that a kind names have none in the configuration."""
    if study.kind.trains_variants:
        return f"{study.key}: {variant} of {method}"
    return f"{study.key}.variants.{method}.{variant}"


def _search(
    study: Study,
    config: Config,
    dataset: str,
    method: str,
    tried: Mapping[str, Changes],
) -> Selected:
    """All configurations of a tuned study as one variant, whose job chooses the best."""
    trial_settings: dict[str, dict[str, Any]] = {}
    for name, changes in tried.items():
        where = f"configurations.{dataset}.{method}.{name}"
        settings = as_json(resolve(config, dataset, method, changes, where))
        _refuse(study, method, name, settings)
        trial_settings[name] = settings
    base = as_json(resolve(config, dataset, method, {}))
    where = f"{study.key}.tuned"
    return Selected(dataset, method, TUNED, base, where, trial_settings)


def _refuse(study: Study, method: str, variant: str, settings: Mapping[str, Any]) -> None:
    refusal = study.kind.refuse(settings, study.options)
    if refusal:
        raise UserError(f"{study.key}.methods: {method} ({variant}): {refusal}")


def _trials(study: Study, config: Config, dataset: str, method: str) -> Mapping[str, Changes]:
    """Configurations of a tuned study; empty for methods that tune themselves."""
    if not study.tuned or methods()[method].draw is None:
        return {}
    return trials(config, dataset, method)


def require_agreement(selections: Mapping[str, Iterable[Selected]]) -> None:
    """Raise `UserError` where two studies give one variant different settings."""
    first: dict[str, tuple[str, Selected]] = {}
    for study, selected in selections.items():
        for variant in selected:
            owner, earlier = first.setdefault(variant.key, (study, variant))
            if _training(earlier) != _training(variant):
                raise UserError(
                    f"{variant.where}: differs from studies.{owner}; rename one of the variants"
                )


def _training(variant: Selected) -> tuple[object, ...]:
    """What determines the training of a variant."""
    return (variant.settings, variant.trials, variant.train_share)
