"""Mutated configurations end in a plan, or in one line."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from npt.errors import UserError
from workflow.config.reading import read
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "config.yaml", *sorted((ROOT / "workflow" / "configs").glob("*.yaml"))]
CONFIGS = [yaml.safe_load(path.read_text()) for path in FILES]
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([[], {}, "../../etc", "$(reboot)", "a; rm -rf /"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)
Keys = tuple[Any, ...]


def all_keys(value: Any, keys: Keys = ()) -> list[Keys]:
    """Paths of keys to every value inside a nested one."""
    paths = [keys] if keys else []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        paths += all_keys(inner, (*keys, key))
    return paths


def mutate(config: Any, keys: Keys, how: str, value: Any) -> None:
    holder = config
    for key in keys[:-1]:
        holder = holder[key]
    if how == "replace":
        holder[keys[-1]] = value
    elif how == "remove":
        del holder[keys[-1]]
    elif isinstance(holder, dict):
        new_key = value if isinstance(value, str | int) else str(value)
        holder[new_key] = holder.pop(keys[-1])
    else:
        holder.append(value)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_mutated_configuration_ends_in_one_line(data: st.DataObject) -> None:
    config = copy.deepcopy(data.draw(st.sampled_from(CONFIGS)))
    for _ in range(data.draw(st.integers(1, 3))):
        keys = data.draw(st.sampled_from(all_keys(config)))
        how = data.draw(st.sampled_from(["replace", "remove", "rename"]))
        mutate(config, keys, how, data.draw(ODD_VALUES))
    try:
        plan = Plan.from_config(read(config))
    except UserError as error:
        assert str(error).strip()
        assert "\n" not in str(error)
    else:
        assert Jobs(plan).targets
