"""Parts of sentences in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workflow.report.cells import formatted
from workflow.report.titles import NPTS, method_title

NOT_PROBED = "No trained model could be probed."


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def per_method(clauses: Mapping[Any, str]) -> str:
    """A clause for each (method, variant), the NPTs first."""
    names = sorted(clauses, key=lambda name: name[0] not in NPTS)
    return ", ".join(f"{method_title(*name)} {clauses[name]}" for name in names)


def value_range(values: pd.Series, digits: int = 0) -> str:
    """The smallest and the largest value; one number if both print alike."""
    low = formatted(float(values.min()), digits)
    high = formatted(float(values.max()), digits)
    return low if low == high else f"{low} to {high}"
