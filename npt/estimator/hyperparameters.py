"""Hyper-parameters of the estimators as settings of the architectures."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils._param_validation import Interval

from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.nn.settings import NPTSettings
from npt.solved.settings import SolvedSettings
from npt.table import Task
from npt.validation import validated

ArchitectureName = Literal["compact", "paper", "solved"]
Settings = CompactSettings | NPTSettings | SolvedSettings

LARGE_ROWS = 3_000
MOST_SOLVED_ROWS = 4_000
MOST_SOLVED_ROWS_OF_CLASSES = 1_500
"""Rows up to which `auto` is solved NPT, which is fitted in seconds there."""


SETTINGS: Mapping[ArchitectureName, type[Settings]] = {
    "compact": CompactSettings,
    "paper": NPTSettings,
    "solved": SolvedSettings,
}
SHARED_KEYS = {
    "width": "width",
    "layers": "layers",
    "learning_rate": "learning_rate",
    "max_updates": "updates",
    "batch_size": "batch_rows",
}
COMPACT_KEYS = {
    **SHARED_KEYS,
    "patience": "patience",
    "members": "members",
    "context_size": "context_rows",
}
KEYS: Mapping[ArchitectureName, Mapping[str, str]] = {
    "compact": COMPACT_KEYS,
    "paper": SHARED_KEYS,
    "solved": {"learning_rate": "rate", "max_updates": "steps"},
}
"""Fields of the settings for the hyper-parameters that an architecture has."""

PAPER_DEFAULTS = {  # sized for a CPU
    "width": 16,
    "layers": 4,
    "heads": 4,
    "attention_dropout": 0.0,
    "target_mask": 0.5,
    "updates": 500,
    "learning_rate": 0.005,
    "evaluate_every": 10,
}
NAMED = tuple(COMPACT_KEYS)  # the hyper-parameters that are fields of settings
COUNT = Interval(Integral, 1, None, closed="left")
HYPERPARAMETERS: dict[str, list[Any]] = {
    **{name: [None, COUNT] for name in NAMED},
    "learning_rate": [None, Interval(Real, 0, None, closed="neither")],
}
"""What is allowed, in scikit-learn's words."""


def architecture_of(
    name: str, named: Mapping[str, Any], rows: int, *, of_classes: bool
) -> ArchitectureName:
    """The architecture that a parameter means for a fit to so many rows.

    Args:
        named: Hyper-parameters by the names of the estimator; None for the default.
    """
    if name != "auto":
        return cast("ArchitectureName", name)
    if any(named[key] is not None for key in NAMED if key not in KEYS["solved"]):
        return "compact"
    most = MOST_SOLVED_ROWS_OF_CLASSES if of_classes else MOST_SOLVED_ROWS
    return "solved" if rows <= most else "compact"


def settings_of(
    name: ArchitectureName,
    named: Mapping[str, Any],
    others: Mapping[str, Any] | None,
    task: Task,
    rows: int,
) -> Settings:
    """Validated settings.

    Args:
        task: Of the target. Defaults depend on it.
        rows: Number of rows of the fit, on which defaults depend, too.
        named: Hyper-parameters by the names of the estimator; None for the default.
        others: Further fields of the settings by their own names.

    Raises:
        UserError: A hyper-parameter is unusable, is none of this architecture, or given twice.
    """
    keys = KEYS[name]
    values = _defaults(name, task, rows)
    further = dict(others or {})
    if "seed" in further:
        raise UserError("settings.seed: random_state sets it")
    values |= further
    for parameter, value in named.items():
        if value is None:
            continue
        if parameter not in keys:
            raise UserError(
                f"{parameter}: not a hyper-parameter of the architecture {name}, which has "
                f"{', '.join(keys)}"
            )
        key = keys[parameter]
        if key in further:
            raise UserError(f"{parameter}: {value!r} is also under settings, as {key!r}")
        values[key] = value
    plain = {key: _plain(value) for key, value in values.items()}
    return validated(SETTINGS[name], plain, "settings")


def _defaults(name: ArchitectureName, task: Task, rows: int) -> dict[str, Any]:
    """Values of fields that differ from the settings' own defaults."""
    if name == "paper":
        return {**PAPER_DEFAULTS}
    values: dict[str, Any] = {}
    if name == "compact":
        values["evaluate_every"] = 50
        if task != "regression":
            # On public tables, losses of classes were those of twice the members.
            values |= {"members": 4, "rate_scale": [1.0], "patience": 200}
        if rows > LARGE_ROWS:
            values |= {"members": 4, "updates": 900}
    return values


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value
