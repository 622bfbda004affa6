"""Regular expressions of the values that wildcards of the rules may take."""

from __future__ import annotations

from collections.abc import Iterable

from baselines import methods


def any_of(names: Iterable[str]) -> str:
    """Pattern of some names; of none, it matches nothing."""
    return "|".join(names) or "(?!)"


def methods_of_rule(rule: str) -> str:
    """Pattern of the methods that a rule runs."""
    names: list[str] = []
    for name, method in methods().items():
        runs_it = "fit_accelerated" if method.accelerated else "fit"
        if rule == ("train" if method.saves_weights else runs_it):
            names.append(name)
    return any_of(names)
