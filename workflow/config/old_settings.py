"""Settings of methods: from changes in a configuration to checked values, and back to plain ones."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from baselines import methods
from baselines.declaration import BaselineSettings
from npt.interface import Resources
from npt.table import TASKS
from workflow.config.old_checks import Settings, require_keys, typed


def typed_settings(method: str, changes: Settings, where: str) -> Any:
    """An instance of the method's settings class."""
    require_settings(method, changes, where)
    settings = typed(methods()[method].settings, changes, where)
    if isinstance(settings, BaselineSettings):
        _check_grid(method, settings)
    return settings


def as_json(settings: Any) -> dict[str, Any]:
    """Settings as plain values."""
    return asdict(settings)


def require_settings(method: str, changes: Settings, where: str) -> None:
    """Raise `UserError` for a setting that the method does not have."""
    require_keys(changes, [one.name for one in fields(methods()[method].settings)], where)


def _check_grid(method: str, settings: BaselineSettings) -> None:
    baseline = methods()[method].build(settings, Resources()).baseline  # type: ignore[attr-defined]
    for task in TASKS:
        next(baseline.configurations(settings, task, 1))
