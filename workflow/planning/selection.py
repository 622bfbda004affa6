"""What studies select: variants of methods on datasets with resolved settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from baselines import methods
from npt.interface import UserError
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
        changes: Those of a trial in the base.
        is_trial: Whether it is one of the configurations of a tuned study.
        where: Key of the variant in the configuration.
    """

    dataset: str
    method: str
    variant: str
    settings: dict[str, Any]
    changes: Changes
    is_trial: bool
    where: str

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
    if study.include_base:
        variants["base"] = {}
    variants.update(tried)
    variants.update(named)
    for variant, changes in variants.items():
        where = f"configurations.{dataset}.{method}.{variant}"
        if variant in named:
            where = f"{study.key}.variants.{method}.{variant}"
        settings = as_json(resolve(config, dataset, method, changes, where))
        refusal = study.kind.refuse(settings)
        if refusal:
            raise UserError(f"{study.key}.methods: {method} ({variant}): {refusal}")
        yield Selected(dataset, method, variant, settings, changes, variant in tried, where)


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
            if earlier.settings != variant.settings:
                raise UserError(
                    f"{variant.where}: differs from studies.{owner}; rename one of the variants"
                )
