"""What a reader must know before the numbers: sizes, searches and folds of this run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from baselines import methods
from npt.data.store import Prepared
from npt.nn.settings import NPTSettings
from workflow.planning.run import Run
from workflow.report.cells import counted
from workflow.studies.sentences import listed

NPT = "npt"
SIZES = ("width", "layers", "updates")
VISIBLE_LABELS = (
    "The exact NPT sees the labels of validation rows when it predicts test rows. No other method "
    "does."
)
FEW_FOLDS = 5  # below these a test over folds shows only large differences


def caveats(
    studies: Iterable[pd.DataFrame],
    prepared: Sequence[Prepared],
    runs: Sequence[Run],
) -> list[str]:
    """Sentences about how small this run is.

    Args:
        runs: Of the plan.
    """
    studies = list(studies)
    npts = [run for run in runs if run.method == NPT]
    sentences = [
        _size_of_npt(npts),
        _searches(studies),
        _folds(studies, prepared),
        _visible_labels(npts),
    ]
    return [sentence for sentence in sentences if sentence]


def _size_of_npt(runs: Sequence[Run]) -> str:
    """Where the exact NPT is smaller than by default, the size of the paper's."""
    if not runs:
        return ""
    default = NPTSettings().model_dump()
    smaller = {}
    for name in SIZES:
        values = set()
        for run in runs:
            values |= {settings[name] for settings in _all_settings(run)}
        if min(values) < default[name]:
            smaller[name] = _range(values)
    if not smaller:
        return ""
    sizes = [f"{name} {values}" for name, values in smaller.items()]
    here = listed(sizes)
    defaults = [f"{default[name]:,}" for name in smaller]
    there = listed(defaults)
    return f"The exact NPT is small: {here} (by default {there})."


def _all_settings(run: Run) -> list[Mapping[str, Any]]:
    """Settings of a run, or of all configurations of its search."""
    return list(run.trials.values()) or [run.settings]


def _searches(studies: Iterable[pd.DataFrame]) -> str:
    """How many configurations the methods tried on a fold."""
    numbers: set[int] = set()
    for study in studies:
        if "configurations" in study:
            is_known = study["method"].isin(methods())
            of_study = study.loc[is_known, "configurations"].dropna()
            numbers |= set(of_study.astype(int))
    searched = {number for number in numbers if number > 1}
    if not searched:
        return ""
    return f"Hyper-parameters are the best of {_range(searched)} configurations on each fold."


def _folds(studies: Iterable[pd.DataFrame], prepared: Sequence[Prepared]) -> str:
    """How many folds were used of those that there are."""
    used: dict[str, int] = {}
    for study in studies:
        for dataset, folds in study.groupby("dataset")["fold"].nunique().items():
            used[str(dataset)] = max(folds, used.get(str(dataset), 0))
    there_are = {dataset.facts["name"]: len(dataset.splits) for dataset in prepared}
    shares = set()
    for dataset, folds in used.items():
        if folds < there_are.get(dataset, 0):
            shares.add((folds, there_are[dataset]))
    if not shares:
        return ""
    few, all_folds = min(shares)
    sentence = f"{counted(few, 'fold')} of {all_folds}"
    if few < FEW_FOLDS:
        return f"{sentence} are used, which shows only large differences between methods."
    return f"{sentence} are used."


def _visible_labels(runs: Sequence[Run]) -> str:
    """Whether an exact NPT sees labels of validation rows when it predicts test rows."""
    for run in runs:
        for settings in _all_settings(run):
            if settings["target_mask"] < 1 and settings["validation_labels_at_test"]:
                return VISIBLE_LABELS
    return ""


def _range(values: Iterable[int]) -> str:
    lowest, *others = sorted(values)
    return f"{lowest:,} to {others[-1]:,}" if others else f"{lowest:,}"
