"""Predictions and probes are those of their version: who changes them raises it."""

from __future__ import annotations

import json

import pytest

from npt.errors import UserError
from tests.contract.golden import FILE, close_to, golden, names

GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))
ADVICE = "run python -m tests.contract.golden"


def test_every_method_and_probe_is_there() -> None:
    assert sorted(GOLDEN) == sorted(names()), ADVICE


@pytest.mark.parametrize("name", names())
def test_values_are_those_of_the_version(name: str) -> None:
    try:
        found = golden(name)
    except UserError as error:
        pytest.skip(str(error))
    assert name in GOLDEN, ADVICE
    expected = GOLDEN[name]
    assert found["version"] == expected["version"], ADVICE
    same = close_to(expected["values"])
    assert found["values"] == same, f"raise the version of {name}, then {ADVICE}"
