"""Tables of a benchmark: mean ranks, metrics, tests, comparison with the paper, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.cells import Cell, counted, decimals, emphasised, number
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE_METHODS,
    difference_cells,
    differences_from_paper,
    in_standard_errors,
    published_ranks,
    published_result,
    whole_methods,
)
from workflow.report.ranks import FEWEST_RANKED, mean_ranks, rank_methods
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import (
    MODEL,
    SUMMARY_COLUMNS,
    by_model,
    metrics_of,
    summarise,
    tasks_of,
)
from workflow.report.titles import TASK_TITLES, dataset_title, method_titles
from workflow.studies.error_columns import texts, with_errors

PAPER_RANKS_NOTE = (
    "The paper's ranks are those of the values that it prints in Tables 8, 10 and 11, of these "
    "methods on these datasets. The difference is in standard errors over datasets, bold beyond "
    "the 5 % level of Student's t over them."
)
RANKS_GROUP = "Mean ranks of each task"
RANKING_NOTES: dict[Ranking, str] = {
    "shared": "Equal means share the average of their ranks. "
    "A method that failed with a reason is last.",
    "paper": "The paper's conventions: no shared ranks. "
    "A method that failed with a reason is last.",
}
SEEDS_NOTE = "Metrics are averaged over seeds first. `seeds` is the standard deviation over them."


def ranks(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean ranks of all methods by the metric of each task (paper Table 1).

    Tasks with fewer datasets than `FEWEST_RANKED` have no section.
    """
    frames = []
    sections = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = _ranked_summary(study, scoring, task, metric.name)
        datasets = list(ranked["dataset"].unique())
        means = _with_paper_ranks(mean_ranks(ranked), metric.name, datasets, scoring.ranking)
        means.insert(0, "task", task)
        means.insert(1, "metric", metric.name)
        frames.append(means)
        count = int(means["datasets"].max())
        if count < FEWEST_RANKED:
            continue
        over = counted(count, "dataset")
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over {over}"
        sections.append(Section(title, _rank_columns(means), group=RANKS_GROUP))
    tidy = pd.concat(frames, ignore_index=True)
    notes = [RANKING_NOTES[scoring.ranking]]
    if tidy["published"].notna().any():
        notes.append(PAPER_RANKS_NOTE)
    return Table(tidy, with_notes(sections, *notes))


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
            sections.append(Section(title, _metric_columns(summary), notes, "All metrics"))
    return Table(pd.concat(frames, ignore_index=True), tuple(sections))


def published(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Results compared with the paper's, the difference in its standard errors."""
    rows = []
    encoders = {_names(model.facts()): model.encoder for model in by_model(study)}
    for task in tasks_of(study):
        for metric in metrics_of(task, scoring.metrics[task]):
            summary = summarise(study, task, metric)
            for row in summary.to_dict("records"):
                rows += _compared_with_paper(row, encoders[_names(row)])
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
    differences = differences_from_paper(means, "mean_rank")
    return means.assign(standard_errors=differences)


def _rank_columns(means: pd.DataFrame) -> dict[str, list[Cell]]:
    columns = {
        "Method": texts(method_titles(means)),
        "Mean rank": with_errors(means, "mean_rank", 2),
        "Paper": with_errors(means, "published", 2, error="published_error"),
        DIFFERENCE: difference_cells(means, "datasets"),
    }
    return Section("", columns).without_empty("Paper", DIFFERENCE).columns


def _metric_columns(summary: pd.DataFrame) -> dict[str, list[Cell]]:
    """A row per method and a column per dataset, the best in bold."""
    models = summary[["method", "variant"]].drop_duplicates()
    columns = {"Method": texts(method_titles(models))}
    for dataset, part in summary.groupby("dataset", sort=False):
        rows = models.merge(part, on=["method", "variant"])
        title = dataset_title(str(dataset))
        columns[title] = _best_in_bold(rows)
        if "seed_deviation" in rows:
            deviations = rows["seed_deviation"]
            cells = [number(value, decimals(value)) for value in deviations]
            columns[f"{title}, seeds"] = cells
    return columns


def _best_in_bold(rows: pd.DataFrame) -> list[Cell]:
    """Means of a dataset; those of the first rank are bold."""
    is_best = rows["rank"] == rows["rank"].min()
    cells = []
    for cell, bold in zip(with_errors(rows, "mean"), is_best, strict=True):
        cells.append(emphasised(cell, bold))
    return cells


def _names(facts: Mapping[Any, Any]) -> tuple[str, ...]:
    """Dataset, method and variant."""
    return tuple(facts[column] for column in MODEL)


def _compared_with_paper(row: Mapping[Any, Any], encoder: str) -> list[dict[Any, Any]]:
    """A row of a summary with the paper's result; none where the paper has none."""
    result = published_result(
        row["dataset"],
        row["method"],
        row["metric"],
        encoder,
    )
    if result is None or row["variant"] not in whole_methods(encoder):
        return []
    mean, error = result
    compared = {
        **row,
        "published": mean,
        "published_error": error,
        "difference": row["mean"] - mean,
        "standard_errors": in_standard_errors(row["mean"], row["standard_error"], mean, error),
    }
    return [compared]


def _published_columns(part: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        "Method": texts(method_titles(part)),
        "Here": with_errors(part, "mean"),
        "Paper": with_errors(part, "published", error="published_error"),
        DIFFERENCE: difference_cells(part),
    }
