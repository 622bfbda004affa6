"""Parts of sentences in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from workflow.report.cells import formatted
from workflow.report.titles import NPTS, method_title

MODEL = ["method", "variant"]
NOT_PROBED = "No trained model could be probed."


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    if len(names) == 1:
        return names[0]
    *others, last = names
    return f"{', '.join(others)} and {last}"


def by_model(study: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Title and rows of each model."""
    for _, rows in study.groupby(MODEL, sort=False):
        first = rows.iloc[0]
        title = method_title(first["method"], first["variant"])
        yield title, rows


def per_method(clauses: Mapping[Any, str]) -> str:
    """A clause for each (method, variant), the NPTs first."""
    names = sorted(clauses, key=lambda name: name[0] not in NPTS)
    texts = []
    for name in names:
        title = method_title(*name)
        texts.append(f"{title} {clauses[name]}")
    return ", ".join(texts)


def value_range(
    values: pd.Series,
    digits: int = 0,
) -> str:
    """The smallest and the largest value; one number if both print alike."""
    lowest = float(values.min())
    highest = float(values.max())
    low = formatted(lowest, digits)
    high = formatted(highest, digits)
    if low == high:
        return low
    return f"{low} to {high}"
