"""What each part of a method contributes: variants beside their base (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.old_published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    SCALES,
    marked,
    paper_name,
    published,
    standard_errors,
)
from workflow.report.section import (
    DASH,
    Section,
    Tabulated,
    bold,
    decimals,
    noted,
    notes,
    plus_minus,
    tasks_of,
)
from workflow.report.summary import (
    dataset_title,
    method_title,
    method_titles,
    standard_error,
    summarise,
    unfinished,
    waiting,
    with_columns,
)

BASE = "base"
TITLES = {"table_4_ablation": "Table 4", "table_5_ablation": "Table 5"}
NOTE = "The change is each fold's from the base of that fold, its mean and standard error; bold beyond two of them."
RANK_NOTE = (
    "The rank of each configuration by validation loss on a fold, from 0 as in the paper's Table 13, averaged over folds; "
    "equal losses share a rank."
)


def ablation(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Every variant's test metric and its change from the base, fold by fold, beside the paper's Table 4 or 5 where it is that.

    The base of Table 5 is the paper's main result, on the small tables the best of eight configurations.
    """
    frames, sections = [], []
    for task in tasks_of(study):
        metric = METRICS[scoring.metrics[task]]
        summary = summarise(study, task, metric.name)
        for dataset, part in summary.groupby("dataset", sort=False):
            part = _beside_base(study, part, metric.name)
            table = _compared(set(part["variant"]))
            part = _beside_the_paper(part, table, metric.name)
            frames.append(part)
            cells = pd.DataFrame(
                {
                    "Variant": method_titles(part),
                    metric.title: _plus_minus(part, "mean", "standard_error"),
                    "Change": [
                        bold(plus_minus(c, e, decimals(m), sign=True), e > 0 and abs(c) > 2 * e)
                        for c, e, m in zip(
                            part["change"], part["change_error"], part["mean"], strict=True
                        )
                    ],
                    f"Paper, {TITLES.get(table)}": _plus_minus(
                        part, "published", "published_error"
                    ),
                    DIFFERENCE: [marked(errors) for errors in part["standard_errors"]],
                }
            )
            shown = cells.loc[
                :, [place < 3 or (cells[name] != DASH).any() for place, name in enumerate(cells)]
            ]
            arrow = "higher" if metric.higher_is_better else "lower"
            title = f"{dataset_title(str(dataset))}: test {metric.title} ({arrow} is better) of each variant"
            sections.append(Section(title, shown, notes(part)))
    tidy = pd.concat(frames, ignore_index=True)
    remarks = (NOTE, DIFFERENCE_NOTE) if tidy["standard_errors"].notna().any() else (NOTE,)
    return Tabulated(tidy, noted(sections, *remarks))


def validation_ranks(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Mean zero-based rank of every variant by validation loss on each fold (paper Table 13)."""
    later = unfinished(study)
    study = with_columns(
        study[~study["dataset"].isin(later)].reset_index(drop=True), ["validation_loss"]
    )
    finished = study[study["status"] == "ok"]
    keys = ["dataset", "method", "fold"]
    count = finished.groupby(keys)["variant"].transform("size")
    whole = finished[
        count == study.groupby(keys[:2])["variant"].transform("nunique").loc[finished.index]
    ]
    ranks = whole.groupby(keys)["validation_loss"].rank(method="average") - 1
    groups = whole.assign(rank=ranks).groupby(["dataset", "task", "method", "variant"], sort=False)[
        "rank"
    ]
    tidy = groups.agg(mean_rank="mean", standard_error=standard_error, folds="size").reset_index()
    table = published()["table_13_configuration_rank"]["cells"]
    same = {
        name: set(part["variant"]) == set(table.get(name, {}))
        for name, part in tidy.groupby("dataset")
    }
    theirs = [
        table[row["dataset"]][row["variant"]]
        if same[row["dataset"]] and row["method"] == "npt"
        else {}
        for row in tidy.to_dict("records")
    ]
    tidy = tidy.assign(
        published=[cell.get("value", np.nan) for cell in theirs],
        published_error=[cell.get("standard_error", np.nan) for cell in theirs],
    )
    sections = []
    for dataset, part in tidy.groupby("dataset", sort=False):
        part = part.sort_values(["mean_rank", "variant"], kind="stable")
        cells = pd.DataFrame(
            {
                "Variant": method_titles(part),
                "Mean rank": [
                    plus_minus(m, e, 2)
                    for m, e in zip(part["mean_rank"], part["standard_error"], strict=True)
                ],
                "Paper": [
                    plus_minus(m, e, 2)
                    for m, e in zip(part["published"], part["published_error"], strict=True)
                ],
                DIFFERENCE: [
                    marked(
                        standard_errors(
                            row["mean_rank"],
                            row["standard_error"],
                            row["published"],
                            row["published_error"],
                        )
                    )
                    for row in part.to_dict("records")
                ],
            }
        )
        cells = (
            cells if (cells["Paper"] != DASH).any() else cells.drop(columns=["Paper", DIFFERENCE])
        )
        sections.append(
            Section(f"{dataset_title(str(dataset))}: variants by validation loss", cells)
        )
    return Tabulated(tidy, noted(sections, RANK_NOTE, *waiting(later)))


def changes(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """For every dataset and variant but the base: title, change from it in percent of its mean, and standard error."""
    tidy, lines = ablation(study, scoring).tidy, []
    for dataset, part in tidy.groupby("dataset", sort=False):
        base = {
            row["method"]: row["mean"] for row in part.to_dict("records") if row["variant"] == BASE
        }
        for row in part[part["variant"] != BASE].to_dict("records"):
            scale = 100 / abs(base.get(row["method"], np.nan))
            lines.append({"dataset": dataset, "metric": row["metric"], "title": method_title(row["method"], row["variant"]),
                          "change": scale * row["change"], "error": scale * row["change_error"]})  # fmt: skip
    return pd.DataFrame(lines, columns=["dataset", "metric", "title", "change", "error"])


def _beside_base(study: pd.DataFrame, part: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Variants of a dataset with the mean and standard error over folds of their difference from their base."""
    found = [_change(study, row, f"test_{metric}") for row in part.to_dict("records")]
    return part.assign(
        change=[change for change, _ in found], change_error=[error for _, error in found]
    )


def _change(study: pd.DataFrame, row: dict[Any, Any], column: str) -> tuple[float, float]:
    """Mean and standard error over folds of a variant's difference from its base; NaN for the base and without folds."""
    own = study[
        (study["dataset"] == row["dataset"]) & (study["method"] == row["method"])
    ].set_index("fold")
    own = own[own["variant"].isin([BASE, row["variant"]])]
    if row["variant"] == BASE or column not in own or (own["status"] != "ok").any():
        return np.nan, np.nan
    difference = (
        own[own["variant"] == row["variant"]][column] - own[own["variant"] == BASE][column]
    ).dropna()
    return (
        (float(difference.mean()), standard_error(difference))
        if len(difference)
        else (np.nan, np.nan)
    )


def _beside_the_paper(part: pd.DataFrame, table: str, metric: str) -> pd.DataFrame:
    """Variants of a dataset with the paper's figures of a table, and the difference from them in standard errors."""
    theirs = [_published(table, row, metric) for row in part.to_dict("records")]
    own = zip(part["mean"], part["standard_error"], theirs, strict=True)
    return part.assign(
        published=[value for value, _ in theirs],
        published_error=[error for _, error in theirs],
        standard_errors=[standard_errors(mean, error, *pair) for mean, error, pair in own],
    )


def _compared(variants: set[Any]) -> str:
    """Which of the paper's tables has these variants: one stands beside a study that has all of a table's own."""
    table_4 = set(published()["table_4_ablation"]["cells"]["protein"])
    if table_4 <= variants:
        return "table_4_ablation"
    return (
        "table_5_ablation"
        if {"base", "without_attributes", "no_feature_masking"} <= variants
        else ""
    )


def _published(table: str, row: dict[Any, Any], metric: str) -> tuple[float, float]:
    cells = published()[table]["cells"].get(paper_name(row["dataset"]), {}) if table else {}
    printed, cell = cells.get("metric", "rmse"), cells.get(row["variant"])
    if (
        not cell
        or row["method"] != "npt"
        or {"accuracy_percent": "accuracy"}.get(printed, printed) != metric
    ):
        return np.nan, np.nan
    scale = SCALES.get(metric, 1.0)
    return scale * cell["value"], scale * cell.get("standard_error", np.nan)


def _plus_minus(part: pd.DataFrame, mean: str, error: str) -> list[str]:
    return [plus_minus(m, e, decimals(m)) for m, e in zip(part[mean], part[error], strict=True)]
