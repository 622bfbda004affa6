"""Settings of a run: the method's defaults and every change that the configuration makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from baselines import baselines, methods
from npt.errors import UserError, require_known
from npt.interface import Resources
from npt.table import TASKS
from npt.validation import validated
from workflow.config.fields import BASE
from workflow.config.models import Config

Changes = Mapping[str, Any]

BATCH_ROWS = 4096  # of NPT by default, on larger custom tables; the paper's for Higgs
FIXED = "fixed"  # of a baseline: its parameters are merged, all other settings replaced


def resolve(config: Config, dataset: str, method: str, changes: Changes, where: str = "") -> Any:
    """Settings of a method on a dataset.

    Args:
        changes: Those of a variant or a trial.
        where: Key of the changes, for errors.

    Raises:
        UserError: Names the setting in the last change that has it.
    """
    merged: dict[str, Any] = {}
    if methods()[method].draw is None and method in config.budget:  # it tunes itself
        merged["budget"] = config.budget[method]
    custom = config.custom_datasets.get(dataset)
    if method == "npt" and custom is not None and custom.rows > BATCH_ROWS:
        merged["batch_rows"] = BATCH_ROWS
    layers: dict[str, Changes] = {
        f"settings.{method}": config.settings.get(method, {}),
        f"overrides.{dataset}.{method}": config.overrides.get(dataset, {}).get(method, {}),
        where: changes,
    }
    last = f"settings.{method}"
    owners: dict[str, str] = {}  # key of the last layer with a setting
    for key, layer in layers.items():
        before = merged.get(FIXED)
        after = layer.get(FIXED)
        merged |= layer
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            merged[FIXED] = {**before, **after}
        if layer and key:
            last = key
            owners |= dict.fromkeys(layer, key)
    try:
        settings = validated(methods()[method].settings, merged, last)
        if method in baselines():
            check_grid(method, settings)
        return settings
    except UserError as error:
        rest = str(error).removeprefix(last).removeprefix(method)
        setting = re.match(r"(?:\.|: '?)(\w+)", rest)
        owner = owners.get(setting[1], last) if setting else last
        raise UserError(owner + rest) from None


def trials(config: Config, dataset: str, method: str) -> dict[str, Changes]:
    """Configurations for tuning: the base, the named ones, and drawn ones up to the budget."""
    named = config.configurations.get(dataset, {}).get(method, {})
    changes: dict[str, Changes] = {BASE: {}, **named}
    missing = config.budget.get(method, 0) - len(changes)
    draw = methods()[method].draw
    if draw is None or missing <= 0:
        return changes
    base = resolve(config, dataset, method, {})
    for number in range(1, missing + 1):
        name = f"trial_{number:02d}"
        seed = f"{dataset} {method} {number}"
        changes[name] = draw(base, seed)
    return changes


def require_settings(method: str, changes: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for a setting that the method does not have."""
    names = methods()[method].settings.model_fields
    for name in changes:
        require_known(name, names, where)


def check_grid(method: str, settings: Any) -> None:
    """Raise `UserError` for a grid that a baseline cannot search."""
    methods()[method].build(settings, Resources())
    baseline = baselines()[method]
    for task in TASKS:
        baseline.grids(settings, task, 1)
    if settings.fixed:
        names = {name for task in TASKS for name in baseline.known_parameters(task)}
        for name in settings.fixed:
            require_known(name, sorted(names), f"{method}.fixed")
        baseline.check(settings.fixed, "fixed")
