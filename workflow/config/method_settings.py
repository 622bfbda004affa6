"""Settings of methods: from changes in a configuration to validated values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baselines import baselines, methods
from npt.errors import UserError, unknown
from npt.interface import Resources
from npt.table import TASKS
from npt.validation import validated


def typed_settings(method: str, changes: Mapping[str, Any], where: str) -> Any:
    """An instance of the method's settings class.

    Raises:
        UserError: Names the key after `where`.
    """
    model = methods()[method].settings
    settings = validated(model, dict(changes), where)
    if method in baselines():
        try:
            check_grid(method, settings)
        except UserError as error:
            message = str(error).removeprefix(f"{method}.")
            raise UserError(f"{where}.{message}") from None
    return settings


def require_settings(method: str, changes: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for a setting that the method does not have."""
    names = methods()[method].settings.model_fields
    for name in changes:
        if name not in names:
            raise UserError(f"{where}: {unknown(name, names)}")


def check_grid(method: str, settings: Any) -> None:
    """Raise `UserError` for a grid that a baseline cannot search."""
    methods()[method].build(settings, Resources())
    baseline = baselines()[method]
    for task in TASKS:
        baseline.grids(settings, task, 1)
    if settings.fixed:
        names: set[str] = set()
        for task in TASKS:
            names.update(baseline.known_parameters(task))
        for name in settings.fixed:
            if name not in names:
                raise UserError(f"{method}.fixed: {unknown(name, sorted(names))}")
        baseline.check(settings.fixed, "fixed")
