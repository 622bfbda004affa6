"""What a reader must know before the numbers: sizes, searches and folds of this run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from baselines import methods
from npt.data.datasets import datasets
from npt.data.store import Prepared
from workflow.config.method_settings import paper_settings
from workflow.planning.run import Run
from workflow.report.cells import counted
from workflow.report.published import WHOLE_METHODS
from workflow.report.titles import EXACT
from workflow.studies.sentences import listed

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
    npts = [run for run in runs if run.method == EXACT]
    sentences = [
        *(_size(method, names, runs) for method, names in SIZES.items()),
        _searches(studies),
        _folds(studies, prepared),
        _visible_labels(npts),
    ]
    return [sentence for sentence in sentences if sentence]


def _size(method: str, names: Sequence[str], runs: Sequence[Run]) -> str:
    """Where an NPT is smaller than the paper's or the default one, the sizes of both."""
    tried: dict[str, set[int]] = {name: set() for name in names}
    whole: dict[str, set[int]] = {name: set() for name in names}
    smaller = set()
    published = True
    for run in runs:
        if run.method != method or run.variant not in WHOLE_METHODS:
            continue
        usual = methods()[method].settings().model_dump()
        if method == EXACT:
            usual = paper_settings(run.dataset)
        declared = datasets().get(run.dataset)
        published &= method == EXACT and declared is not None and declared.in_paper
        for name in names:
            values = {settings[name] for settings in _all_settings(run)}
            tried[name] |= values
            whole[name].add(usual[name])
            if min(values) < usual[name]:
                smaller.add(name)
    if not smaller:
        return ""
    shown = [name for name in names if name in smaller]
    sizes = listed([f"{name} {_range(tried[name])}" for name in shown])
    usual_sizes = listed([_range(whole[name]) for name in shown])
    source = "in the paper" if published else "by default"
    return f"{TITLES[method]} is small: {sizes} ({source} {usual_sizes})."


def _all_settings(run: Run) -> list[Mapping[str, Any]]:
    """Settings of a run, or of all configurations of its search."""
    return list(run.trials.values()) or [run.settings]


def _searches(studies: Iterable[pd.DataFrame]) -> str:
    """How many configurations the methods tried on a fold, and which had a single one."""
    numbers: dict[str, set[int]] = {}
    for study in studies:
        if "configurations" not in study:
            continue
        rows = study[study["method"].isin(methods()) & (study["status"] == "ok")]
        for method, tried in rows.dropna(subset="configurations").groupby("method", sort=False):
            of_method = numbers.setdefault(str(method), set())
            of_method |= set(tried["configurations"].astype(int))
    untuned = [methods()[name].title for name, tried in numbers.items() if max(tried) == 1]
    if len(untuned) == len(numbers):
        return ""
    tried = _range(set().union(*numbers.values()))
    sentence = f"Hyper-parameters are the best of {tried} configurations on each fold"
    if not untuned:
        return f"{sentence}."
    return f"{sentence}; {listed(untuned)} {'is' if len(untuned) == 1 else 'are'} untuned."


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
