"""Parts of sentences in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workflow.report.cells import counted, formatted
from workflow.report.fold_tests import FEWEST_FOLDS, needed_errors
from workflow.report.titles import NPTS, dataset_title, method_title
from workflow.studies.errors import effect_text

MODEL = ["method", "variant"]
BOUNDS = (0.01, 0.1, 0.7)
EXTENTS = ("hardly", "slightly", "clearly", "strongly")
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
        yield method_title(first["method"], first["variant"]), rows


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


def title_of(row: Mapping[Any, Any]) -> str:
    """A model on its dataset."""
    return f"{method_title(row['method'], row['variant'])} on {dataset_title(row['dataset'])}"


def extents(sizes: pd.Series) -> str:
    """The smallest and the largest of some sizes in a word, or in two.

    Sizes are effects, or movements in standard deviations: below 0.01 "hardly", below 0.1
    "slightly", below 0.7 (a factor of two) "clearly", and above "strongly".
    """
    words = [
        EXTENTS[int(np.searchsorted(BOUNDS, size, "right"))] for size in sizes.agg(["min", "max"])
    ]
    return " to ".join(dict.fromkeys(words))


def effects_in_words(rows: pd.DataFrame, effect: str = "effect", worse: str = "worse_folds") -> str:
    """Effects on the metric of each task: from the smallest to the largest, and where certain.

    Args:
        rows: A row for each dataset.
        effect: Column of mean effects.
        worse: Column of the number of folds that are worse.
    """
    clauses = []
    is_regression = rows["task"] == "regression"
    for metric, part in (("RMSE", rows[is_regression]), ("NLL", rows[~is_regression])):
        if part.empty:
            continue
        task = part["task"].iloc[0]
        sizes = [effect_text(size, task) for size in (part[effect].min(), part[effect].max())]
        is_worse = part[worse] == part["folds"]
        folds = int(part["folds"].iloc[0])
        if len(part) > 1:
            count = f"worse in every fold on {is_worse.sum()} of {len(part)} datasets"
        elif is_worse.all() and folds > 1:
            count = f"in all {folds} folds"
        else:
            count = f"in {part[worse].iloc[0]} of {counted(folds, 'fold')}"
        clauses.append(f"{metric} {' to '.join(dict.fromkeys(sizes))}, {count}")
    return "; ".join(clauses)


def power(tidy: pd.DataFrame) -> list[str]:
    """For each number of folds, how far from zero a mean has to be."""
    sentences = []
    for folds, part in tidy[tidy["reason"] == ""].groupby("folds"):
        count = int(folds)  # type: ignore[arg-type]
        needed = [needed_errors(count, fraction) for fraction in part["test_fraction"].dropna()]
        if count < FEWEST_FOLDS:
            shown = counted(count, "fold")
            sentences.append(f"{shown}: too few for a test, at least {FEWEST_FOLDS} are needed.")
        elif needed:
            sentences.append(
                f"With {count} folds, an effect is significant only beyond "
                f"{value_range(pd.Series(needed), 1)} standard errors. A smaller one is neither "
                "shown nor excluded."
            )
    return sentences
