"""Detail tables of a benchmark: mean ranks, all metrics, comparison with the paper."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.cells import Cell, counted, emphasised
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE_METHODS,
    difference_cells,
    differences_from_paper,
    published_ranks,
    published_result,
    whole_methods,
)
from workflow.report.ranks import FEWEST_RANKED, mean_ranks, ranked_summary
from workflow.report.sections import Section, Table, failure_notes, with_notes
from workflow.report.statistics import (
    METHOD,
    SUMMARY_COLUMNS,
    by_model,
    metrics_of,
    summarise,
    tasks_of,
)
from workflow.report.titles import TASK_TITLES, dataset_title, method_titles
from workflow.studies.error_columns import model_columns, texts, with_errors

PAPER_RANKS_NOTE = (
    "The paper's ranks are those of the values that it prints in Tables 8, 10 and 11, of these "
    "methods on these datasets. The difference is in standard errors over datasets, bold beyond "
    "the 5 % level of Student's t over them."
)
RANKING_NOTES: dict[Ranking, str] = {
    "shared": "Equal means share the average of their ranks. "
    "A method that failed with a reason is last.",
    "paper": "The paper's conventions: no shared ranks. "
    "A method that failed with a reason is last.",
}


def ranks_table(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean ranks of all methods by the metric of each task (paper Table 1).

    Tasks with fewer datasets than `FEWEST_RANKED` have no section.
    """
    frames = []
    sections = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = ranked_summary(study, scoring, task, metric.name)
        datasets = list(ranked["dataset"].unique())
        means = _with_paper_ranks(mean_ranks(ranked), metric.name, datasets, scoring.ranking)
        frames.append(means.assign(task=task, metric=metric.name))
        count = int(means["datasets"].max())
        if count < FEWEST_RANKED:
            continue
        title = f"{TASK_TITLES[task]}: mean rank by {metric.title} over "
        columns = {
            "Method": texts(method_titles(means)),
            "Mean rank": with_errors(means, "mean_rank", 2),
            "Paper": with_errors(means, "published", 2, error="published_error"),
            DIFFERENCE: difference_cells(means, "datasets"),
        }
        section = Section(title + counted(count, "dataset"), columns)
        sections.append(section.without_empty("Paper", DIFFERENCE))
    tidy = pd.concat(frames, ignore_index=True)
    notes = [RANKING_NOTES[scoring.ranking]]
    if tidy["published"].notna().any():
        notes.append(PAPER_RANKS_NOTE)
    return Table(tidy, with_notes(sections, *notes))


def metrics(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean and standard error over folds of every metric (paper Tables 8 to 12)."""
    frames = []
    sections = []
    for task in tasks_of(study):
        for name in metrics_of(task, scoring.metrics[task]):
            summary = ranked_summary(study, scoring, task, name)
            frames.append(summary)
            better = "higher" if METRICS[name].higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {METRICS[name].title} ({better} is better)"
            notes = failure_notes(summary)
            sections.append(Section(title, _metric_columns(summary), notes, is_detail=True))
    return Table(pd.concat(frames, ignore_index=True), tuple(sections))


def published(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Results compared with the paper's, the difference in its standard errors."""
    rows = []
    encoders = {}
    for model in by_model(study):
        encoders[model.dataset, model.method, model.variant] = model.encoder
    for task in tasks_of(study):
        for metric in metrics_of(task, scoring.metrics[task]):
            for row in summarise(study, task, metric).to_dict("records"):
                encoder = encoders[row["dataset"], row["method"], row["variant"]]
                result = published_result(row["dataset"], row["method"], metric, encoder)
                if result and row["variant"] in whole_methods(encoder):
                    row["published"], row["published_error"] = result
                    rows.append(row)
    tidy = pd.DataFrame(rows, columns=[*SUMMARY_COLUMNS, "published", "published_error"])
    tidy["difference"] = tidy["mean"] - tidy["published"]
    tidy["standard_errors"] = differences_from_paper(tidy, "mean")
    if tidy.empty:
        return Table(tidy, ())
    columns = {
        **model_columns(tidy),
        "Metric": texts(METRICS[name].title for name in tidy["metric"]),
        "Here": with_errors(tidy, "mean"),
        "Paper": with_errors(tidy, "published", error="published_error"),
        DIFFERENCE: difference_cells(tidy),
    }
    notes = (DIFFERENCE_NOTE, *failure_notes(tidy))
    section = Section("Metrics compared with the paper's", columns, notes, is_detail=True)
    return Table(tidy, (section,))


def _with_paper_ranks(
    means: pd.DataFrame, metric: str, datasets: list[str], ranking: Ranking
) -> pd.DataFrame:
    """Add the paper's ranks of the same methods on the same datasets; NaN where it lacks one."""
    paper_means = published_ranks(metric, datasets, list(means["method"]), ranking)
    means = means.assign(published=np.nan, published_error=np.nan)
    if paper_means is not None and set(means["variant"]) <= set(WHOLE_METHODS):
        by_method = paper_means.set_index("method").loc[means["method"]]
        means["published"] = by_method["mean_rank"].to_numpy()
        means["published_error"] = by_method["standard_error"].to_numpy()
    return means.assign(standard_errors=differences_from_paper(means, "mean_rank"))


def _metric_columns(summary: pd.DataFrame) -> dict[str, list[Cell]]:
    """A row per method and a column per dataset, the best in bold."""
    models = summary[METHOD].drop_duplicates()
    columns = {"Method": texts(method_titles(models))}
    for dataset, part in summary.groupby("dataset", sort=False):
        rows = models.merge(part, on=METHOD)
        is_best = rows["rank"] == rows["rank"].min()
        cells = map(emphasised, with_errors(rows, "mean"), is_best)
        columns[dataset_title(str(dataset))] = list(cells)
    return columns
