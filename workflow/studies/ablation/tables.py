"""Tables of an ablation: variants compared with their base (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, emphasised, metric_decimals, number
from workflow.report.fold_tests import fold_test, fraction_tested
from workflow.report.notes import failure_notes
from workflow.report.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    difference_cells,
    differences_from_paper,
)
from workflow.report.sections import Section, Table, with_notes
from workflow.report.statistics import (
    LEVEL,
    fold_means,
    has_seeds,
    of_model,
    standard_error,
    summarise,
    tasks_of,
    with_columns,
)
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.ablation.paper import paper_table, with_paper_ranks, with_paper_results
from workflow.studies.error_columns import texts, with_errors

PAPER_TITLES = {
    "table_4_ablation": "Table 4",
    "table_5_ablation": "Table 5",
    "": "none",
}
NOTE = (
    "The change is the mean and standard error over folds of the difference from the base on the "
    "same fold. Bold: differs from zero at the 5 % level by the corrected resampled t-test "
    "(Nadeau and Bengio 2003), without a correction for the number of variants."
)
ONE_FOLD_NOTE = "The change is the difference from the base. One fold tests nothing."
SEEDS_NOTE = "`Over seeds` is the standard deviation over seeds, pooled over folds."
TABLE_5_NOTE = (
    "The base of the paper's Table 5 is its main result: on the small datasets that is the best of "
    "eight configurations on each fold. Its Income masks no features, so that the variant without "
    "is the base."
)
RANK_NOTE = (
    "Rank of each configuration by validation loss on a fold, from 0 as in the paper's Table 13, "
    "averaged over folds. Equal losses share a rank."
)


def ablation(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Test metric of every variant and its change from the base, with the paper's Table 4 or 5."""
    folds = fold_means(study)
    frames = []
    sections = []
    found = set()
    for task in tasks_of(study):
        metric = scoring.metrics[task]
        summary = summarise(study, task, metric)
        for dataset, part in summary.groupby("dataset", sort=False):
            table = paper_table(str(dataset), set(part["variant"]))
            part = _with_changes(part, folds)
            part = with_paper_results(part, table)
            found.add(table)
            frames.append(part)
            sections.append(_section(str(dataset), part, PAPER_TITLES[table]))
    tidy = pd.concat(frames, ignore_index=True)
    notes = []
    if tidy["change_error"].notna().any():
        notes.append(NOTE)
    elif tidy["change"].notna().any():
        notes.append(ONE_FOLD_NOTE)
    if has_seeds(study):
        notes.append(SEEDS_NOTE)
    if "table_5_ablation" in found:
        notes.append(TABLE_5_NOTE)
    if tidy["standard_errors"].notna().any():
        notes.append(DIFFERENCE_NOTE)
    return Table(tidy, with_notes(sections, *notes))


def validation_ranks(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Mean zero-based rank of every variant by validation loss on each fold (paper Table 13)."""
    folds = with_columns(fold_means(study), ["validation_loss"])
    tidy = with_paper_ranks(_mean_validation_ranks(folds))
    sections = []
    for dataset, part in tidy.groupby("dataset", sort=False):
        sections.append(_rank_section(str(dataset), part))
    return Table(tidy, with_notes(sections, RANK_NOTE))


def changes(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """Change of every variant from its base, and its standard error, in percent of the base.

    Without a base, missing values; every variant has its mean, and its deviation over seeds.
    """
    columns = ["dataset", "metric", "method", "title", "change", "error", "mean", "deviation"]
    frames = [pd.DataFrame(columns=columns)]
    for _, part in ablation(study, scoring).tidy.groupby("dataset", sort=False):
        bases = part[part["variant"] == BASE].set_index("method")["mean"]
        variants = part[part["variant"] != BASE]
        scale = 100 / variants["method"].map(bases).astype(float).abs()
        frame = variants.assign(
            title=method_titles(variants),
            change=scale * variants["change"],
            error=scale * variants["change_error"],
            deviation=variants.get("seed_deviation", np.nan),
        )
        if len(frame):
            frames.append(frame[columns])
    return pd.concat(frames[1:] or frames, ignore_index=True)


def _section(dataset: str, part: pd.DataFrame, paper_title: str) -> Section:
    metric = METRICS[part["metric"].iloc[0]]
    better = "higher" if metric.higher_is_better else "lower"
    paper_column = f"Paper, {paper_title}"
    rows = part.to_dict("records")
    columns = {
        "Variant": texts(method_titles(part)),
        metric.title: with_errors(part, "mean"),
        "Over seeds": [_seeds_cell(row) for row in rows],
        "Change": [_change_cell(row) for row in rows],
        paper_column: with_errors(part, "published", error="published_error"),
        DIFFERENCE: difference_cells(part),
    }
    title = f"{dataset_title(dataset)}: test {metric.title} ({better} is better) of each variant"
    section = Section(title, columns, failure_notes(part))
    return section.without_empty("Over seeds", "Change", paper_column, DIFFERENCE)


def _seeds_cell(row: Mapping[Any, Any]) -> Cell:
    return number(row.get("seed_deviation", np.nan), metric_decimals(row["mean"]))


def _change_cell(row: Mapping[Any, Any]) -> Cell:
    digits = metric_decimals(row["mean"])
    cell = number(row["change"], digits, error=row["change_error"], sign=True)
    return emphasised(cell, row["p_value"] < LEVEL)


def _with_changes(part: pd.DataFrame, folds: pd.DataFrame) -> pd.DataFrame:
    """Add the difference of every variant from its base: mean, standard error and test."""
    means = []
    errors = []
    p_values = []
    for row in part.to_dict("records"):
        differences = _differences(folds, row)
        test = fold_test(differences, fraction_tested(of_model(folds, row)))
        means.append(test["difference"])
        errors.append(standard_error(differences))
        p_values.append(test["p_value"])
    return part.assign(change=means, change_error=errors, p_value=p_values)


def _differences(folds: pd.DataFrame, row: Mapping[Any, Any]) -> pd.Series:
    """Difference of a variant from its base on each fold; empty for the base and after failures."""
    column = f"test_{row['metric']}"
    variant = of_model(folds, row).set_index("fold")
    base = of_model(folds, {**row, "variant": BASE}).set_index("fold")
    statuses = {*variant["status"], *base["status"]}
    if row["variant"] == BASE or column not in folds or statuses != {"ok"}:
        return pd.Series(dtype=float)
    return (variant[column] - base[column]).dropna()


def _mean_validation_ranks(folds: pd.DataFrame) -> pd.DataFrame:
    """Ranks on the folds on which every variant has a result, averaged over these folds."""
    finished = folds[folds["status"] == "ok"]
    by_method = folds.groupby(["dataset", "method"])
    variants = by_method["variant"].transform("nunique")
    by_fold = finished.groupby(["dataset", "method", "fold"])
    results = by_fold["variant"].transform("size")
    complete = finished[results == variants.loc[finished.index]]
    by_fold = complete.groupby(["dataset", "method", "fold"])
    ranks = by_fold["validation_loss"].rank(method="average") - 1
    ranked = complete.assign(rank=ranks)
    by_variant = ranked.groupby(["dataset", "task", "method", "variant"], sort=False)
    means = by_variant["rank"].agg(
        mean_rank="mean",
        standard_error=standard_error,
        folds="size",
    )
    return means.reset_index()


def _rank_section(dataset: str, part: pd.DataFrame) -> Section:
    part = part.sort_values(["mean_rank", "variant"], kind="stable")
    differences = differences_from_paper(part, "mean_rank")
    columns = {
        "Variant": texts(method_titles(part)),
        "Mean rank": with_errors(part, "mean_rank", 2),
        "Paper": with_errors(part, "published", 2, error="published_error"),
        DIFFERENCE: difference_cells(part.assign(standard_errors=differences)),
    }
    section = Section(f"{dataset_title(dataset)}: variants by validation loss", columns)
    return section.without_empty("Paper", DIFFERENCE)
