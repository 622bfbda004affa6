"""Tables of a benchmark: mean ranks, metrics, tests, comparison with the paper, cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.cells import Cell, counted, decimals, emphasised, number, text
from workflow.report.cost import cost
from workflow.report.notes import failure_notes, unranked_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE_METHODS,
    difference_cell,
    in_standard_errors,
    published_ranks,
    published_result,
)
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.statistics import (
    SUMMARY_COLUMNS,
    metrics_of,
    summarise,
    tasks_of,
    unfinished,
)
from workflow.report.table import Section, Table, with_notes
from workflow.report.titles import TASK_TITLES, dataset_title, method_title, method_titles
from workflow.studies.benchmark.significance import fold_tests, rank_tests

__all__ = ["cost", "fold_tests", "metrics", "published", "rank_tests", "ranks"]

ONE_DATASET_NOTE = "One dataset: a rank, with no standard error."
PAPER_RANKS_NOTE = (
    "The paper's ranks are those of the values that it prints in Tables 8, 10 and 11, of these "
    "methods on these datasets. The difference is in standard errors over datasets, bold beyond "
    "two."
)
RANKING_NOTES: dict[Ranking, str] = {
    "shared": "Equal means share the average of their ranks. "
    "A method that failed with a reason is last.",
    "paper": "The paper's conventions: no shared ranks. "
    "A method that failed with a reason is last.",
}
SEEDS_NOTE = "Metrics are averaged over seeds first; `seeds` is the standard deviation over them."


def ranks(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean ranks of all methods by the metric of each task (paper Table 1)."""
    missing = unfinished(study)
    frames = []
    sections = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = _ranked_summary(study, scoring, task, metric.name)
        datasets = [name for name in ranked["dataset"].unique() if name not in missing]
        means = _with_paper_ranks(mean_ranks(ranked), metric.name, datasets, scoring.ranking)
        means.insert(0, "task", task)
        means.insert(1, "metric", metric.name)
        frames.append(means)
        count = int(means["datasets"].max())
        over = counted(count, "dataset")
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {over}"
        notes = (ONE_DATASET_NOTE,) if count == 1 else ()
        sections.append(Section(title, _rank_columns(means), notes))
    tidy = pd.concat(frames, ignore_index=True)
    notes = [RANKING_NOTES[scoring.ranking]]
    if tidy["published"].notna().any():
        notes.append(PAPER_RANKS_NOTE)
    return Table(tidy, with_notes(sections, *notes, *unranked_notes(missing)))


def metrics(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean and standard error over folds of every metric (paper Tables 8 to 11)."""
    frames = []
    sections = []
    for task in tasks_of(study):
        for name in metrics_of(task, scoring.metrics[task]):
            metric = METRICS[name]
            summary = _ranked_summary(study, scoring, task, name)
            frames.append(summary)
            better = "higher" if metric.higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {metric.title} ({better} is better)"
            notes = failure_notes(summary)
            if "seed_deviation" in summary:
                notes = (SEEDS_NOTE, *notes)
            group = "" if name == scoring.metrics[task] else "Other metrics"
            sections.append(Section(title, _metric_columns(summary), notes, group))
    return Table(pd.concat(frames, ignore_index=True), tuple(sections))


def published(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Results compared with the paper's, the difference in its standard errors."""
    rows = []
    for task in tasks_of(study):
        for metric in metrics_of(task, scoring.metrics[task]):
            summary = summarise(study, task, metric)
            compared = map(_compared_with_paper, summary.to_dict("records"))
            rows += [row for row in compared if row]
    columns = [*SUMMARY_COLUMNS, "published", "published_error", "difference", "standard_errors"]
    tidy = pd.DataFrame(rows, columns=columns)
    sections = []
    for (dataset, metric), part in tidy.groupby(["dataset", "metric"], sort=False):
        measure = METRICS[str(metric)].title
        title = f"{dataset_title(str(dataset))}: test {measure}, compared with the paper"
        group = "Metrics compared with the paper's"
        sections.append(Section(title, _published_columns(part), failure_notes(part), group))
    return Table(tidy, with_notes(sections, DIFFERENCE_NOTE))


def primary(summary: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Those rows of a summary that are of the metric of their task."""
    return summary[summary["task"].map(dict(scoring.metrics)) == summary["metric"]]


def _ranked_summary(
    study: pd.DataFrame,
    scoring: Scoring,
    task: str,
    metric: str,
) -> pd.DataFrame:
    return rank_methods(
        summarise(study, task, metric),  # type: ignore[arg-type]
        higher_is_better=METRICS[metric].higher_is_better,
        ranking=scoring.ranking,
        unranked=unfinished(study),
    )


def _with_paper_ranks(
    means: pd.DataFrame, metric: str, datasets: list[str], ranking: Ranking
) -> pd.DataFrame:
    """Add the paper's ranks of the same methods on the same datasets; NaN where it lacks one."""
    paper_means = published_ranks(metric, datasets, list(means["method"]), ranking)
    if paper_means is None or not set(means["variant"]) <= set(WHOLE_METHODS):
        return means.assign(published=np.nan, published_error=np.nan, standard_errors=np.nan)
    by_method = paper_means.set_index("method").loc[means["method"]]
    means = means.assign(
        published=by_method["mean_rank"].to_numpy(),
        published_error=by_method["standard_error"].to_numpy(),
    )
    return means.assign(standard_errors=_differences(means, "mean_rank"))


def _differences(frame: pd.DataFrame, value: str) -> list[float]:
    """Difference of each row from the paper in standard errors."""
    columns = [value, "standard_error", "published", "published_error"]
    return [in_standard_errors(*map(float, row)) for row in frame[columns].to_numpy()]


def _rank_columns(means: pd.DataFrame) -> dict[str, list[Cell]]:
    columns = {
        "Method": [text(title) for title in method_titles(means)],
        "Mean rank": value_cells(means, "mean_rank", "standard_error", 2),
        "Paper": value_cells(means, "published", "published_error", 2),
        DIFFERENCE: [difference_cell(errors) for errors in means["standard_errors"]],
    }
    return Section("", columns).without_empty("Paper", DIFFERENCE).columns


def value_cells(
    frame: pd.DataFrame, value: str, error: str, digits: int | None = None
) -> list[Cell]:
    """Cells of a column with its standard errors; `digits` default to those of a metric."""
    cells = []
    for mean, standard_error in zip(frame[value], frame[error], strict=True):
        places = decimals(mean) if digits is None else digits
        cells.append(number(mean, places, error=standard_error))
    return cells


def _metric_columns(summary: pd.DataFrame) -> dict[str, list[Cell]]:
    """A row per method and a column per dataset, the best in bold."""
    models = list(dict.fromkeys(zip(summary["method"], summary["variant"], strict=True)))
    columns = {"Method": [text(method_title(*model)) for model in models]}
    for dataset, part in summary.groupby("dataset", sort=False):
        by_model = part.set_index(["method", "variant"]).loc[models]
        best = by_model["rank"] == by_model["rank"].min()
        cells = value_cells(by_model, "mean", "standard_error")
        title = dataset_title(str(dataset))
        columns[title] = [emphasised(cell, on) for cell, on in zip(cells, best, strict=True)]
        if "seed_deviation" in by_model:
            deviations = by_model["seed_deviation"]
            cells = [number(value, decimals(value)) for value in deviations]
            columns[f"{title}, seeds"] = cells
    return columns


def _compared_with_paper(row: dict) -> dict | None:
    """A row of a summary with the paper's result; None where the paper has none."""
    result = published_result(row["dataset"], row["method"], row["metric"])
    if result is None or row["variant"] not in WHOLE_METHODS:
        return None
    mean, error = result
    return {
        **row,
        "published": mean,
        "published_error": error,
        "difference": row["mean"] - mean,
        "standard_errors": in_standard_errors(row["mean"], row["standard_error"], mean, error),
    }


def _published_columns(part: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        "Method": [text(title) for title in method_titles(part)],
        "Here": value_cells(part, "mean", "standard_error"),
        "Paper": value_cells(part, "published", "published_error"),
        DIFFERENCE: [difference_cell(errors) for errors in part["standard_errors"]],
    }
