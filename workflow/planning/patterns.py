"""Regular expressions of the values that wildcards of the rules may take."""

from __future__ import annotations

from collections.abc import Iterable

from baselines import methods
from npt.method import Method

NO_VALUE = "(?!)"  # matches nothing


def any_of(names: Iterable[str]) -> str:
    """Pattern of some names."""
    return "|".join(names) or NO_VALUE


def methods_of_rule(rule: str) -> str:
    """Pattern of the methods that a rule runs."""
    names: list[str] = []
    for name, method in methods().items():
        if rule_of(method) == rule:
            names.append(name)
    return any_of(names)


def rule_of(method: Method) -> str:
    """The rule that runs a method."""
    if method.saves_weights:
        return "train"
    if method.accelerated:
        return "fit_accelerated"
    return "fit"
