"""The first table of a benchmark: all methods on all datasets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.planning.paths import run_key
from workflow.report.cells import DASH, Cell, counted, emphasised, followed_by, number, seconds
from workflow.report.cost import cost
from workflow.report.fold_tests import SIZES, fold_comparison
from workflow.report.notes import failure_notes
from workflow.report.rank_tests import rank_matrix, refusal
from workflow.report.ranks import FEWEST_RANKED, rank_methods
from workflow.report.sections import Section, Table
from workflow.report.statistics import (
    LEVEL,
    MODEL,
    fold_means,
    has_seeds,
    summarise,
    tasks_of,
    with_columns,
)
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.error_columns import texts, with_errors

METHOD = ["method", "variant"]
MOST_DIGITS = 5  # of a score
ERROR_NOTE = "± is the standard error over folds."
BEST_NOTE = "Bold: the best mean."
TEST_NOTE = (
    "Shaded, in plain text italic: not significantly different from it by "
    f"the corrected resampled t-test over folds (Nadeau and Bengio 2003) at the {100 * LEVEL:.0f} "
    "% level, without a correction for the number of methods. Others differ significantly."
)
UNTESTED = "†"
SEEDS_NOTE = "Metrics are averaged over seeds first."
RANK_NOTE = "Mean rank: over the datasets, by these metrics."
NO_TEST_NOTE = "Mean ranks are not tested: {}."
SECONDS_NOTE = "Seconds: search and training on a fold, as the mean over the datasets."


def scores(study: pd.DataFrame, scoring: Scoring) -> Table:
    """The metric of each task on its datasets, mean ranks and seconds; the best methods first."""
    tidy = _with_ties(_summaries(study, scoring), study)
    methods = _in_order(study, scoring)
    columns = {"Method": texts(method_titles(methods))}
    computed_here = _computed_here(study)
    is_tested = bool(tidy["p_value"].notna().any())
    for dataset, part in tidy.groupby("dataset", sort=False):
        rows = methods[METHOD].merge(part, on=METHOD, how="left")
        columns[_title(str(dataset), part)] = _cells(rows, computed_here, marks=is_tested)
    ranks = rank_matrix(study, scoring)
    if len(ranks) >= FEWEST_RANKED:
        columns["Mean rank"] = [number(rank, 2) for rank in methods["mean_rank"]]
    columns["Seconds per fold"] = [seconds(value) for value in methods["seconds"]]
    title = f"Test scores on {counted(tidy['dataset'].nunique(), 'dataset')}"
    section = Section(title, columns, _notes(tidy, study, ranks))
    return Table(tidy, (section,))


def _summaries(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Mean, standard error and rank of every model by the metric of its task."""
    frames = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = rank_methods(
            summarise(study, task, metric.name),
            higher_is_better=metric.higher_is_better,
            ranking=scoring.ranking,
        )
        frames.append(ranked)
    return pd.concat(frames, ignore_index=True)


def _with_ties(tidy: pd.DataFrame, study: pd.DataFrame) -> pd.DataFrame:
    """Add `is_best`, `p_value` of the test against the best model, and why it is `untested`."""
    folds = with_columns(fold_means(study), SIZES)
    frames = []
    for dataset, part in tidy.groupby("dataset", sort=False):
        of_dataset = folds[folds["dataset"] == dataset]
        frames.append(_compared_with_best(part, of_dataset))
    return pd.concat(frames, ignore_index=True)


def _compared_with_best(part: pd.DataFrame, folds: pd.DataFrame) -> pd.DataFrame:
    """The models of a dataset, each compared with that of the best mean."""
    metric = METRICS[part["metric"].iloc[0]]
    is_best = part["mean"].notna() & (part["rank"] == part["rank"].min())
    if not is_best.any():
        return part.assign(is_best=False, p_value=np.nan, untested="")
    best = part[is_best].iloc[0]
    reference = (best["method"], best["variant"])
    p_values = []
    untested = []
    for model in part[METHOD].itertuples(index=False, name=None):
        comparison = fold_comparison(folds, model, reference, f"test_{metric.name}")
        p_values.append(comparison.get("p_value", np.nan))
        untested.append(comparison["reason"])
    is_compared = part["mean"].notna() & ~is_best
    reasons = np.where(is_compared, untested, "")
    return part.assign(is_best=is_best, p_value=p_values, untested=reasons)


def _in_order(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Methods with `mean_rank` and `seconds`, by mean rank, then in the order of the study."""
    ranks = rank_matrix(study, scoring).mean()
    costs = cost(study, scoring).tidy.groupby(METHOD)["search_seconds"].mean()
    methods = study[METHOD].drop_duplicates()
    names = list(methods.itertuples(index=False, name=None))
    methods = methods.assign(
        mean_rank=[ranks.get(name, np.nan) for name in names],
        seconds=[costs.get(name, np.nan) for name in names],
    )
    return methods.sort_values("mean_rank", kind="stable", ignore_index=True)


def _title(dataset: str, part: pd.DataFrame) -> str:
    metric = METRICS[part["metric"].iloc[0]]
    arrow = "↑" if metric.higher_is_better else "↓"
    return f"{dataset_title(dataset)}, {metric.title} {arrow}"


def _computed_here(study: pd.DataFrame) -> set[str]:
    """Keys of the runs whose files lie beside the report."""
    sources = with_columns(study, ["source"])["source"]
    is_own = sources.isna() | (sources == "")
    models = study.loc[is_own, MODEL]
    keys = set()
    for names in models.drop_duplicates().itertuples(index=False):
        keys.add(run_key(*names))
    return keys


def _cells(rows: pd.DataFrame, computed_here: set[str], *, marks: bool) -> list[Cell]:
    """Scores on a dataset: the best bold, those that do not differ italic, untested ones marked.

    Each has the key of its run.
    """
    cells = []
    means = _told_apart_by_digits(rows)
    for mean, row in zip(means, rows.to_dict("records"), strict=True):
        cell = emphasised(mean, row["is_best"], italic=row["p_value"] >= LEVEL)
        if marks and row["untested"]:
            cell = followed_by(cell, f" {UNTESTED}")
        key = run_key(
            row["dataset"],
            row["method"],
            row["variant"],
        )
        if key in computed_here and not cell.is_missing:
            cell = replace(cell, run_key=key)
        cells.append(cell)
    return cells


def _told_apart_by_digits(rows: pd.DataFrame) -> list[Cell]:
    """Means with as many digits as the best one needs to differ from the others, at most five."""
    shown = with_errors(rows, "mean")
    for digits in range(3, MOST_DIGITS):
        best = set()
        others = set()
        for cell, is_best in zip(shown, rows["is_best"], strict=True):
            group = best if is_best else others
            group.add(cell.text)
        others.discard(DASH)
        if best.isdisjoint(others):
            break
        shown = with_errors(rows, "mean", digits + 1)
    return shown


def _notes(
    tidy: pd.DataFrame,
    study: pd.DataFrame,
    ranks: pd.DataFrame,
) -> tuple[str, ...]:
    is_tested = tidy["p_value"].notna().any()
    reasons = "; ".join(filter(None, tidy["untested"].unique()))
    notes = [ERROR_NOTE, BEST_NOTE]
    if is_tested:
        notes[-1] += f" {TEST_NOTE}"
    if reasons:
        sign = f"{UNTESTED} " if is_tested else ""
        notes.append(f"{sign}Not tested: {reasons}.")
    if has_seeds(study):
        notes.append(SEEDS_NOTE)
    if len(ranks) >= FEWEST_RANKED:
        notes.append(RANK_NOTE)
        reason = refusal(ranks)
        if reason:
            notes.append(NO_TEST_NOTE.format(reason))
    return (*notes, SECONDS_NOTE, *failure_notes(tidy))
