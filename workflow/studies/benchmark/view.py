"""The tables and figures of a benchmark, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from npt.metrics import METRICS, metrics_of
from npt.table import Task
from workflow.config.scoring import Ranking, Scoring
from workflow.planning.paths import RUN, run_metrics
from workflow.presentation.cells import counted, emphasised, p_value, texts, with_errors
from workflow.presentation.cost import cost
from workflow.presentation.drawing import (
    NPT_STYLES,
    OTHER_STYLE,
    facets,
    legend_below,
    logarithmic,
    panels,
    points,
)
from workflow.presentation.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    WHOLE_METHODS,
    difference_cells,
    differences_from_paper,
    published_ranks,
    published_result,
    whole_methods,
)
from workflow.presentation.ranks import (
    FEWEST_RANKED,
    mean_ranks,
    primary_summary,
    rank_matrix,
    rank_tests,
    ranked_summary,
    refusal,
)
from workflow.presentation.sections import (
    Section,
    Table,
    View,
    failure_notes,
    model_columns,
    with_notes,
)
from workflow.presentation.statistics import (
    METHOD,
    MODEL,
    SUMMARY_COLUMNS,
    by_model,
    summarise,
    tasks_of,
)
from workflow.presentation.titles import TASK_TITLES, dataset_title, method_title, method_titles
from workflow.results.fitting import CONFIGURATION
from workflow.studies.benchmark.scores import bencheval, scores, scores_answer

PAPER_RANKS_NOTE = (
    "The paper's ranks are those of the values that it prints of these metrics, of these methods "
    "on these datasets. The difference is in standard errors over datasets, bold beyond "
    "the 5 % level of Student's t over them."
)
RANKING_NOTES: dict[Ranking, str] = {
    "shared": "Equal means share the average of their ranks. "
    "A method that failed with a reason is last.",
    "paper": "The paper's conventions: no shared ranks. "
    "A method that failed with a reason is last.",
}
LOSSES = {"train_loss": "train loss", "validation_loss": "validation loss"}


def ranks(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean rank of each method over the datasets of a task, with its standard error over datasets.
    Further left is better.
    """
    tidy = ranks_table(study, scoring).tidy
    figure, tasks = facets(tidy.assign(title=method_titles(tidy)), "task")
    for task, part, axis in tasks:
        points(axis, part, "mean_rank", "standard_error")
        metric = METRICS[part["metric"].iloc[0]].title
        over = counted(int(part["datasets"].max()), "dataset")
        axis.set(
            title=f"{TASK_TITLES[task]}\n{metric}, {over}",
            xlabel="mean rank (1 is best)",
            xlim=(0.5, len(part) + 0.5),
            xticks=range(1, len(part) + 1, 1 + len(part) // 8),
        )
    return figure


def critical_difference(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Mean ranks over the datasets of all tasks (diagram of Demšar 2006). A bar joins methods that
    Nemenyi's test does not separate. With too few datasets there is no test.
    """
    from scikit_posthocs import critical_difference_diagram

    tests = rank_tests(study, scoring)
    names = list(tests.ranks.columns)
    figure, (axis,) = panels(1, len(names))
    titles = [method_title(*name) for name in names]
    colors = [NPT_STYLES.get(method, OTHER_STYLE)[0] for method, _ in names]
    verdict = tests.refusal
    if not tests.refusal:
        verdict = f"Friedman's test: p = {p_value(tests.p_value).text}"
    diagram = critical_difference_diagram(
        pd.Series(tests.ranks.mean().to_numpy(), titles),
        pd.DataFrame(tests.pairs.to_numpy(), titles, titles),
        ax=axis,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
        color_palette=dict(zip(titles, colors, strict=True)),
        text_h_margin=0.1,
        marker_props={"s": 14},
        crossbar_props={"color": "0.3", "linewidth": 2.5},
        elbow_props={"linewidth": 0.8},
    )
    for (bar,) in diagram["crossbars"]:  # whose points have the order of a set of names
        bar.set_xdata(sorted(bar.get_xdata()))
    axis.grid(visible=False)
    over = counted(len(tests.ranks), "dataset")
    axis.set_title(f"Mean rank over {over} (1 is best)\n{verdict}")
    return figure


def ranks_table(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean ranks of all methods by the metric of each task (paper Table 1).

    Tasks with fewer datasets than `FEWEST_RANKED` have no section.
    """
    frames = []
    sections = []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        ranked = ranked_summary(study, scoring, task, metric.name)
        means = mean_ranks(ranked).assign(published=np.nan, published_error=np.nan)
        datasets = list(ranked["dataset"].unique())
        methods = list(means["method"])
        paper_means = published_ranks(metric.name, datasets, methods, scoring.ranking)
        if paper_means is not None and set(means["variant"]) <= set(WHOLE_METHODS):
            by_method = paper_means.set_index("method")[["mean_rank", "standard_error"]]
            means[["published", "published_error"]] = by_method.loc[means["method"]].to_numpy()
        means["standard_errors"] = differences_from_paper(means, "mean_rank")
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
        for name in _metric_names(task, scoring):
            summary = ranked_summary(study, scoring, task, name)
            frames.append(summary)
            columns = {"Method": texts(method_titles(summary[METHOD].drop_duplicates()))}
            for dataset, part in summary.groupby("dataset", sort=False):  # a row for each method
                is_best = part["rank"] == part["rank"].min()
                cells = map(emphasised, with_errors(part, "mean"), is_best)
                columns[dataset_title(str(dataset))] = list(cells)
            better = "higher" if METRICS[name].higher_is_better else "lower"
            title = f"{TASK_TITLES[task]}: test {METRICS[name].title} ({better} is better)"
            sections.append(Section(title, columns, failure_notes(summary), is_detail=True))
    return Table(pd.concat(frames, ignore_index=True), tuple(sections))


def _metric_names(task: Task, scoring: Scoring) -> list[str]:
    """Metrics of a task, that of the ranks before the others."""
    return sorted(metrics_of(task), key=lambda name: name != scoring.metrics[task])


def published(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Results compared with the paper's, in standard errors of the difference."""
    rows = []
    encoders = {}
    for model in by_model(study):
        encoders[model.dataset, model.method, model.variant] = model.encoder
    for task in tasks_of(study):
        for metric in _metric_names(task, scoring):
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


def curves(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Training of the NPTs: the loss on train and validation rows after each evaluation, a line for
    each fold and seed. Only the selected configuration of a search is shown. Where the validation
    loss still falls at the end, more updates might help. The exact NPT's train loss counts masked
    cells of all columns. Compact NPT's validation loss is that of the averaged weights.
    """
    folds = []
    finished = study[(study["status"] == "ok") & study["method"].isin(NPT_STYLES)]
    for row in finished.to_dict("records"):
        path = curve_file(row)
        if path.exists():
            model = {name: row[name] for name in MODEL}
            folds.append(pd.read_csv(path).assign(**model, training=len(folds)))
    if not folds:
        return panels(0, 0)[0]
    losses = pd.concat(folds).melt(
        [*MODEL, "training", "update"], LOSSES, var_name="loss", value_name="size"
    )
    losses["loss"] = losses["loss"].map(LOSSES)
    losses = losses.sort_values(METHOD, kind="stable")
    columns = min(3, losses["dataset"].nunique())
    figure, models = facets(losses, MODEL, 7, columns=columns)
    for (dataset, method, variant), part, axis in models:
        sns.lineplot(
            part,
            x="update",
            y="size",
            style="loss",
            dashes={"train loss": (1, 1), "validation loss": ""},
            units="training",
            estimator=None,
            color=NPT_STYLES[method][0],
            linewidth=0.9,
            ax=axis,
        )
        title = f"{method_title(method, variant)}\n{dataset_title(dataset)}"
        axis.set(title=title, xlabel="updates", ylabel="loss", xlim=(0, None))
        logarithmic(axis.yaxis)
    legend_below(figure, columns=2)
    return figure


def curve_file(row: Mapping[Any, Any]) -> Path:
    """File of the curve of a fold, which may be missing."""
    stem = RUN.format(**{"seed": 0, **row, "folds": row["fold"]})
    chosen = row.get("chosen")
    if isinstance(chosen, str):
        configuration = json.loads(chosen).get(CONFIGURATION)
        if configuration is not None:
            stem = f"{stem}.{configuration}"
    return run_metrics(stem)


VIEW = View(
    tables={
        "scores": scores,
        "metrics": metrics,
        "ranks": ranks_table,
        "published": published,
        "cost": cost,
        "bencheval": bencheval,
    },
    figures={"ranks": ranks, "critical_difference": critical_difference, "curves": curves},
    optional={
        "ranks": lambda study, scoring: (
            study.groupby("task")["dataset"].nunique().max() >= FEWEST_RANKED
        ),
        "critical_difference": lambda study, scoring: (
            not refusal(rank_matrix(primary_summary(study, scoring)))
        ),
    },
    scored=True,
    drawn=("ranks", "critical_difference"),
    answer=scores_answer,
)
