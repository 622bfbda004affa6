"""Settings of a run: the method's defaults and every change that the configuration makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import methods
from workflow.config.models import Config
from workflow.config.settings import typed_settings

Changes = Mapping[str, Any]


def resolve(config: Config, dataset: str, method: str, changes: Changes, where: str = "") -> Any:
    """Settings of a method on a dataset.

    Args:
        changes: Those of a variant or a trial.
        where: Key of the changes, for errors.
    """
    override = config.overrides.get(dataset, {}).get(method, {})
    layers = [config.settings.get(method, {}), override, changes]
    if method in config.budget and methods()[method].draw is None:
        layers.insert(0, {"budget": config.budget[method]})
    merged: dict[str, Any] = {}
    for layer in layers:
        merged.update(layer)
    if not (where and changes):
        where = f"overrides.{dataset}.{method}" if override else f"settings.{method}"
    return typed_settings(method, merged, where)


def trials(config: Config, dataset: str, method: str) -> dict[str, Changes]:
    """Configurations for tuning: the base, the named ones, and drawn ones up to the budget."""
    named = config.configurations.get(dataset, {}).get(method, {})
    changes: dict[str, Changes] = {"base": {}, **named}
    draw = methods()[method].draw
    missing = config.budget.get(method, 0) - len(changes)
    if draw is None or missing <= 0:
        return changes
    base = resolve(config, dataset, method, {})
    for number in range(1, missing + 1):
        changes[f"trial_{number:02d}"] = draw(base, f"{dataset} {method} {number}")
    return changes
