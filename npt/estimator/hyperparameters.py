"""Hyper-parameters of the estimators as settings of the architectures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
"""Rows up to which `auto` is solved NPT: where it was the better (docs/estimators.md)."""


@dataclass(frozen=True)
class Architecture:
    """What the hyper-parameters mean to an architecture.

    Attributes:
        settings: Class of its settings.
        keys: Name of a field of the settings for each hyper-parameter that it has.
        defaults: Values of fields that differ from the settings' own defaults.
        class_defaults: Further ones for targets that are classes.
        large_defaults: Further ones for more than `LARGE_ROWS` rows.
    """

    settings: type[Settings]
    keys: Mapping[str, str]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    class_defaults: Mapping[str, Any] = field(default_factory=dict)
    large_defaults: Mapping[str, Any] = field(default_factory=dict)


SHARED_KEYS = {
    "width": "width",
    "layers": "layers",
    "learning_rate": "learning_rate",
    "max_updates": "updates",
    "batch_size": "batch_rows",
}
COMPACT = Architecture(
    settings=CompactSettings,
    keys={
        **SHARED_KEYS,
        "patience": "patience",
        "members": "members",
        "context_size": "context_rows",
    },
    defaults={"evaluate_every": 50},
    # On public tables, losses of classes were those of twice the members.
    class_defaults={"members": 4, "rate_scale": [1.0], "patience": 200},
    large_defaults={"members": 4, "updates": 900},
)
PAPER = Architecture(  # sized for a CPU
    settings=NPTSettings,
    keys=SHARED_KEYS,
    defaults={
        "width": 16,
        "layers": 4,
        "heads": 4,
        "attention_dropout": 0.0,
        "target_mask": 0.5,
        "updates": 500,
        "learning_rate": 0.005,
        "evaluate_every": 10,
    },
)
SOLVED = Architecture(
    settings=SolvedSettings, keys={"learning_rate": "rate", "max_updates": "steps"}
)
ARCHITECTURES: Mapping[ArchitectureName, Architecture] = {
    "compact": COMPACT,
    "paper": PAPER,
    "solved": SOLVED,
}
NAMED = tuple(COMPACT.keys)  # the hyper-parameters that are fields of settings
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
    if any(named[key] is not None for key in COMPACT.keys if key not in SOLVED.keys):
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
    architecture = ARCHITECTURES[name]
    values = {**architecture.defaults}
    if task != "regression":
        values |= architecture.class_defaults
    if rows > LARGE_ROWS:
        values |= architecture.large_defaults
    further = dict(others or {})
    values |= further
    for parameter, value in named.items():
        if value is None:
            continue
        if parameter not in architecture.keys:
            raise UserError(
                f"{parameter}: not a hyper-parameter of the architecture {name}, which has "
                f"{', '.join(architecture.keys)}"
            )
        key = architecture.keys[parameter]
        if key in further:
            raise UserError(f"{parameter}: {value!r} is also under settings, as {key!r}")
        values[key] = value
    plain = {key: _plain(value) for key, value in values.items()}
    return validated(architecture.settings, plain, "settings")


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value
