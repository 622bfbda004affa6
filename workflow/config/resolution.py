"""Settings of a run: the method's defaults and every change that the configuration makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import methods
from workflow.config.method_settings import typed_settings
from workflow.config.models import Config

Changes = Mapping[str, Any]


def resolve(config: Config, dataset: str, method: str, changes: Changes, where: str = "") -> Any:
    """Settings of a method on a dataset.

    Args:
        changes: Those of a variant or a trial.
        where: Key of the changes, for errors.
    """
    merged: dict[str, Any] = {}
    key = f"settings.{method}"
    tunes_itself = methods()[method].draw is None
    if tunes_itself and method in config.budget:
        merged["budget"] = config.budget[method]
    merged.update(config.settings.get(method, {}))
    override = _of_method(config.overrides, dataset, method)
    if override:
        merged.update(override)
        key = f"overrides.{dataset}.{method}"
    if changes:
        merged.update(changes)
        key = where or key
    return typed_settings(method, merged, key)


def trials(config: Config, dataset: str, method: str) -> dict[str, Changes]:
    """Configurations for tuning: the base, the named ones, and drawn ones up to the budget."""
    changes: dict[str, Changes] = {"base": {}}
    changes.update(_of_method(config.configurations, dataset, method))
    budget = config.budget.get(method, 0)
    missing = budget - len(changes)
    draw = methods()[method].draw
    if draw is None or missing <= 0:
        return changes
    base = resolve(config, dataset, method, {})
    for number in range(1, missing + 1):
        name = f"trial_{number:02d}"
        seed = f"{dataset} {method} {number}"
        changes[name] = draw(base, seed)
    return changes


def _of_method(blocks: Mapping[str, Mapping[str, Any]], dataset: str, method: str) -> Changes:
    by_method = blocks.get(dataset, {})
    return by_method.get(method, {})
