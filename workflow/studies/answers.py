"""Sentences of numbers that answer the questions of the report's page."""

from __future__ import annotations

import pandas as pd

from workflow.report.cells import counted, listed
from workflow.report.titles import method_title
from workflow.studies.errors import effect_text

REGRESSION, CLASSES = "multiplies the RMSE by", "adds to the NLL, in nats per row,"


def effects_answer(tidy: pd.DataFrame, change: str, effect: str = "effect") -> str:
    """What a change does to each method's error: the means over datasets, the largest first.

    Args:
        tidy: A row per model, with `effect` as of `workflow.studies.errors` and its `folds`.
        change: Subject of the sentence, such as `Shuffling the other rows`.
        effect: Column of the effects.
    """
    known = tidy.dropna(subset=effect)
    sentences = []
    for is_regression, part in known.groupby(known["task"] == "regression", sort=False):
        task = "regression" if is_regression else "binary"
        means = part.groupby(["method", "variant"])[effect].mean().sort_values(ascending=False)
        items = []
        for (method, variant), mean in means.items():  # type: ignore[misc]
            size = effect_text(mean, task).removeprefix("× ").removeprefix("+")
            items.append(f"{size} ({method_title(method, variant)})")
        extent = f"{counted(part['dataset'].nunique(), 'dataset')} × {_folds(part)}"
        verb = REGRESSION if is_regression else CLASSES
        sentences.append(f"{change} {verb} {listed(items)}; {extent}.")
    return " ".join(sentences)


def _folds(part: pd.DataFrame) -> str:
    return counted(int(part["folds"].max()), "fold")
