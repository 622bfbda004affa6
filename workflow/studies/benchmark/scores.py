"""The first table of a benchmark: all methods on all datasets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, counted, emphasised, followed_by, listed, number, seconds
from workflow.report.fold_tests import SIZES, fold_comparison
from workflow.report.notes import failure_notes
from workflow.report.rank_tests import refusal
from workflow.report.ranks import FEWEST_RANKED, primary_summary, rank_matrix
from workflow.report.sections import Section, Table
from workflow.report.statistics import LEVEL, fold_means, standard_error, with_columns
from workflow.report.titles import TASK_TITLES, dataset_title, method_title, method_titles
from workflow.studies.error_columns import texts, with_errors

METHOD = ["method", "variant"]
MOST_DATASETS = 12  # that have columns of their own
LEADERS = 3  # that the answer names
UNTESTED = "†"
ERROR_NOTE = "± is the standard error over folds, or over datasets of a rank. Bold: the best mean."
TEST_NOTE = (
    f"Shaded or italic: not significantly different from the best at the {100 * LEVEL:.0f} % level "
    "by the corrected resampled t-test over folds (Nadeau and Bengio 2003), without a correction "
    "for the number of methods."
)
RANKS_NOTE = "Mean ranks over the datasets by each task's metric, ± standard error over datasets."
SECONDS_NOTE = "Seconds: search and training on a fold."


def scores(study: pd.DataFrame, scoring: Scoring) -> Table:
    """The metric of each task on its datasets, mean ranks and seconds; the best methods first.

    Of more than `MOST_DATASETS`, ranks alone.
    """
    tidy = _with_tests(primary_summary(study, scoring), study)
    ranks = rank_matrix(tidy)
    order = ranks.mean().sort_values(kind="stable").index.to_frame(index=False)
    columns = {"Method": texts(method_titles(order))}
    is_tested = bool(tidy["p_value"].notna().any())
    if len(ranks) <= MOST_DATASETS:
        for dataset, part in tidy.groupby("dataset", sort=False):
            metric = METRICS[part["metric"].iloc[0]]
            title = f"{dataset_title(str(dataset))}, {metric.title}"
            title += " ↑" if metric.higher_is_better else " ↓"
            columns[title] = _cells(order.merge(part, on=METHOD, how="left"), marks=is_tested)
    else:
        for task, part in tidy.groupby("task", sort=False):
            title = f"{TASK_TITLES[task]}, mean rank on {part['dataset'].nunique()}"
            columns[title] = _mean_ranks(rank_matrix(part), order)
    if len(ranks) >= FEWEST_RANKED:
        columns["Mean rank"] = _mean_ranks(ranks, order)
    times = with_columns(study, ["fit_seconds"]).groupby(METHOD)["fit_seconds"].mean()
    columns["Seconds"] = [seconds(times[name]) for name in order.itertuples(index=False, name=None)]
    title = f"Test scores on {counted(len(ranks), 'dataset')}"
    return Table(tidy, (Section(title, columns, _notes(tidy, ranks)),))


def scores_answer(tidy: pd.DataFrame) -> str:
    """The methods with the best mean ranks, and whether ranks can be tested."""
    ranks = rank_matrix(tidy)
    means = ranks.mean().sort_values(kind="stable")
    leaders = []
    for (method, variant), rank in means.head(LEADERS).items():  # type: ignore[misc]
        leaders.append(f"{method_title(method, variant)} ({rank:.2f})")
    extent = f"{counted(len(ranks), 'dataset')} × {counted(int(tidy['folds'].max()), 'fold')}"
    methods = counted(len(means), "method")
    answer = f"{listed(leaders)} have the best mean ranks of {methods} on {extent}."
    reason = refusal(ranks)
    return f"{answer} Ranks are not tested: {reason}." if reason else answer


def _mean_ranks(ranks: pd.DataFrame, order: pd.DataFrame) -> list[Cell]:
    """Means over datasets with their standard errors."""
    cells = []
    for name in order.itertuples(index=False, name=None):
        cells.append(number(ranks[name].mean(), 2, error=standard_error(ranks[name])))
    return cells


def _with_tests(tidy: pd.DataFrame, study: pd.DataFrame) -> pd.DataFrame:
    """Add `is_best`, `p_value` of the test against the best model, and why it is `untested`."""
    folds = with_columns(fold_means(study), SIZES)
    frames = []
    for dataset, part in tidy.groupby("dataset", sort=False):
        is_best = part["mean"].notna() & (part["rank"] == part["rank"].min())
        p_values = pd.Series(np.nan, part.index)
        untested = pd.Series("", part.index)
        if is_best.any():
            best = part[is_best].iloc[0]
            dataset_folds = folds[folds["dataset"] == dataset]
            for index, model in part[part["mean"].notna() & ~is_best].iterrows():
                comparison = fold_comparison(
                    dataset_folds,
                    (model["method"], model["variant"]),
                    (best["method"], best["variant"]),
                    f"test_{best['metric']}",
                )
                p_values[index] = comparison["p_value"]
                untested[index] = comparison["reason"]
        frames.append(part.assign(is_best=is_best, p_value=p_values, untested=untested))
    return pd.concat(frames, ignore_index=True)


def _cells(rows: pd.DataFrame, *, marks: bool) -> list[Cell]:
    """Scores on a dataset: the best bold, those that do not differ italic, untested ones marked."""
    cells = []
    for mean, row in zip(with_errors(rows, "mean"), rows.to_dict("records"), strict=True):
        cell = emphasised(mean, row["is_best"], italic=row["p_value"] >= LEVEL)
        if marks and row["untested"]:
            cell = followed_by(cell, f" {UNTESTED}")
        cells.append(cell)
    return cells


def _notes(tidy: pd.DataFrame, ranks: pd.DataFrame) -> tuple[str, ...]:
    notes = [ERROR_NOTE]
    is_tested = tidy["p_value"].notna().any()
    if is_tested:
        notes.append(TEST_NOTE)
    reasons = "; ".join(filter(None, tidy["untested"].unique()))
    if reasons:
        sign = f"{UNTESTED} " if is_tested else ""
        notes.append(f"{sign}Not tested: {reasons}.")
    if len(ranks) >= FEWEST_RANKED and refusal(ranks):
        notes.append(f"Mean ranks are not tested: {refusal(ranks)}.")
    if len(ranks) > MOST_DATASETS:
        notes = [RANKS_NOTE]
    return (" ".join([*notes, SECONDS_NOTE]), *failure_notes(tidy))
