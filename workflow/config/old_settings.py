"""Settings of methods: from changes in a configuration to checked values, and back to plain ones."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from pydantic import BaseModel

from baselines import baselines, methods
from baselines.grids import BaselineSettings
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
    return settings.model_dump() if isinstance(settings, BaseModel) else asdict(settings)


def require_settings(method: str, changes: Settings, where: str) -> None:
    """Raise `UserError` for a setting that the method does not have."""
    settings = methods()[method].settings
    if issubclass(settings, BaseModel):
        require_keys(changes, settings.model_fields, where)
    else:
        require_keys(changes, [field.name for field in fields(settings)], where)


def _check_grid(method: str, settings: BaselineSettings) -> None:
    for task in TASKS:
        next(baselines()[method].configurations(settings, task, 1))
