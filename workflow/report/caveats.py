"""What a reader must know before the numbers: sizes, searches and folds of this run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from baselines import methods
from npt.data.store import Prepared
from workflow.planning.run import Run
from workflow.report.cells import counted
from workflow.report.published import WHOLE_METHODS
from workflow.studies.sentences import listed

NPT = "npt"
TITLES = {"npt": "The exact NPT", "npt_compact": "Compact NPT"}
SIZES = {  # settings that make the NPTs as large as they are
    "npt": ("width", "layers", "updates"),
    "npt_compact": ("width", "layers", "members", "updates"),
}
VISIBLE_LABELS = (
    "Where targets are only partly masked, the exact NPT sees validation labels when it predicts "
    "test rows. No other method does."
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
        *(_size(method, names, runs) for method, names in SIZES.items()),
        _searches(studies),
        _folds(studies, prepared),
        _visible_labels(npts),
    ]
    return [sentence for sentence in sentences if sentence]


def _size(method: str, names: Sequence[str], runs: Sequence[Run]) -> str:
    """Where an NPT is smaller than by default, its size and the default's."""
    of_method = [run for run in runs if run.method == method and run.variant in WHOLE_METHODS]
    if not of_method:
        return ""
    default = methods()[method].settings().model_dump()
    smaller = {}
    tried = []
    for run in of_method:
        tried += _all_settings(run)
    for name in names:
        values = {settings[name] for settings in tried}
        if min(values) < default[name]:
            smaller[name] = _range(values)
    if not smaller:
        return ""
    sizes = [f"{name} {values}" for name, values in smaller.items()]
    defaults = [f"{default[name]:,}" for name in smaller]
    title = TITLES[method]
    return f"{title} is small: {listed(sizes)} (by default {listed(defaults)})."


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
    verb = "is" if few == 1 else "are"
    if few < FEW_FOLDS:
        return f"Only {sentence} {verb} used, so only large differences are detectable."
    return f"{sentence} {verb} used."


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
