"""Configurations with something wrong in them: a plan, or one line that says what."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from npt.interface import UserError
from workflow.config.reading import read
from workflow.planning.old_plan import Plan

CONFIGS = [
    yaml.safe_load(path.read_text()) for path in sorted(Path("workflow/configs").glob("*.yaml"))
]
CONFIGS.append(yaml.safe_load(Path("config.yaml").read_text()))
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**12), st.floats(), st.text(max_size=8), st.just([]), st.just({}),
    st.just("../../etc"), st.just("$(reboot)"), st.just("a; rm -rf /"), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a nested value, keys and all."""
    found = [path] if path else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def mutate(config: Any, path: tuple[Any, ...], how: str, value: Any) -> None:
    holder = config
    for key in path[:-1]:
        holder = holder[key]
    if how == "replace":
        holder[path[-1]] = value
    elif how == "remove":
        del holder[path[-1]]
    elif isinstance(holder, dict):
        holder[value if isinstance(value, str | int) else str(value)] = holder.pop(path[-1])
    else:
        holder.append(value)


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_five_hundred_mutated_configurations(data: st.DataObject) -> None:
    config = copy.deepcopy(data.draw(st.sampled_from(CONFIGS)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(config)))
        mutate(
            config,
            path,
            data.draw(st.sampled_from(["replace", "remove", "rename"])),
            data.draw(ODD),
        )
    try:
        plan = Plan(read(config))
        assert plan.targets
    except UserError as error:
        assert str(error).strip() and "\n" not in str(error)
