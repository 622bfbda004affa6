"""Defaults of the estimators, and what takes their place."""

from __future__ import annotations

from typing import Any

import pytest

from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.estimator.hyperparameters import (
    KEYS,
    LARGE_ROWS,
    NAMED,
    architecture_of,
    settings_of,
)
from npt.table import TASKS, Task


def settings(
    task: Task,
    rows: int = 100,
    others: dict[str, Any] | None = None,
    **named: Any,
) -> CompactSettings:
    made = settings_of("compact", named, others, task, rows)
    assert isinstance(made, CompactSettings)
    return made


@pytest.mark.parametrize("rows", [LARGE_ROWS, LARGE_ROWS + 1])
@pytest.mark.parametrize("task", TASKS)
def test_defaults_are_those_of_the_task_and_the_rows(task: Task, rows: int) -> None:
    expected: dict[str, Any] = {"evaluate_every": 50}
    if task != "regression":
        expected |= {"members": 4, "rate_scale": [1.0], "patience": 200}
    if rows > LARGE_ROWS:
        expected |= {"members": 4, "updates": 900}
    assert settings(task, rows) == CompactSettings(**expected)


def test_what_is_given_comes_before_defaults() -> None:
    made = settings("binary", LARGE_ROWS + 1, {"rate_scale": [0.5]}, members=2, max_updates=7)
    assert (made.members, made.updates, made.rate_scale) == (2, 7, [0.5])
    with pytest.raises(UserError, match="members: 2 is also under settings"):
        settings("binary", others={"members": 3}, members=2)


def test_auto_has_the_named_hyperparameters() -> None:
    for name in NAMED:
        named = {**dict.fromkeys(NAMED), name: 3}
        expected = "solved" if name in KEYS["solved"] else "compact"
        assert architecture_of("auto", named, 10, of_classes=True) == expected
