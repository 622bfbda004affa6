"""The test error by the share of the other rows that is shuffled, deleted, or left.

A tidy frame of shares has a row for each model, kind of change and share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from workflow.config.fields import BASE
from workflow.presentation.cells import columns_of, metric_decimals, number, text
from workflow.presentation.drawing import EQUAL, WIDE, by_title, facets, legend_below, logarithmic
from workflow.presentation.ranks import FEWEST_DIFFERENCES
from workflow.presentation.sections import (
    Section,
    Table,
    View,
    model_cells,
    probe_table,
    with_notes,
)
from workflow.presentation.statistics import (
    MODEL,
    by_model,
    of_model,
    standard_error,
    with_columns,
    without_failures,
)
from workflow.presentation.titles import dataset_title, method_titles
from workflow.studies.context import KIND as CONTEXT
from workflow.studies.errors import (
    MEANS_NOTE,
    effect,
    effect_cell,
    effects_answer,
    error_label,
    errors,
    factor_label,
    kinds_of_tables,
    losses,
)

PERTURBED = {"shuffle": "shuffled", "delete": "deleted"}
AT_PREDICTION = "at prediction"
IN_TRAINING = "in training"
ERROR_NOTE = "Error is RMSE, or the percentage of wrong classes, as the mean over folds."
NOTE = (
    f"{ERROR_NOTE} `Constant` is that of a prediction without features. `Effect`, at the largest "
    "share, is the geometric mean over folds of the ratio of RMSEs, perturbed to intact, or the "
    "mean increase of the NLL of classes in nats per row. The other rows are the train rows, for "
    "the exact NPT the rest of its batch."
)
CONTEXT_NOTE = (
    "`At prediction`: a model that was trained on all train rows has a share of them left. `In "
    "training`: the same settings trained on this share alone, with all validation rows. The rows "
    "are the same in both, and those of a smaller share are among those of a larger one. Baselines "
    "search their hyper-parameters anew on each share. What the first is better by was learned "
    "from the rows that are not there. Methods without stored rows are trained alone. "
    "`max_test_rows` limits the rows that are scored `at prediction`."
)
SHARES_NOTE = (
    f"{MEANS_NOTE}, against the same model with all train rows. A dataset is left out where a "
    "model has no result of a share, such as of rows of a single class."
)
KEYS = [*MODEL, "task", "kind", "share"]
COLUMNS = [*KEYS, "fold", "rows", "error", "loss", "constant"]


def dose_response_table(study: pd.DataFrame) -> Table:
    """Error with the other rows intact, shuffled and deleted, and the effects."""
    means = _means(dose_folds(study))
    rows = []
    for model in by_model(study):
        cells = model_cells(model.facts())
        rows.append(cells)
        part = of_model(means, model.facts())
        if part.empty:
            continue
        digits = 2 if model.task == "regression" else 1
        cells["Error"] = number(part["error"].iloc[0], digits)
        cells["Constant"] = number(part["constant"].iloc[0], digits)
        for kind, perturbed in PERTURBED.items():
            largest = part.loc[part["kind"] == kind, "effect"].iloc[-1]
            cells[f"Effect, {perturbed}"] = effect_cell(largest, model.task)
    return probe_table(study, means, "Other rows perturbed", rows, NOTE)


def context_table(study: pd.DataFrame) -> Table:
    """Errors for each share, a row for each model at prediction and in training."""
    means = contexts(study)
    rows = []
    for _, part in means.groupby([*MODEL, "kind"], sort=False):
        first = part.iloc[0]
        cells = {**model_cells(first), "Share": text(first["kind"])}
        digits = metric_decimals(part["error"].min()) if first["task"] == "regression" else 1
        for share, error in zip(part["share"], part["error"], strict=True):
            cells[f"{100 * share:g} %"] = number(error, digits)
        rows.append(cells)
    title = "Test error by the share of train rows"
    table = probe_table(study, means, title, rows, ERROR_NOTE)
    rows = []
    for (tables, kind, method), part in _shares_over_datasets(means).groupby(
        ["tables", "kind", "title"], sort=False
    ):
        cells = {"Datasets": text(tables), "Method": text(method), "Share": text(kind)}
        for share, mean, task in zip(part["share"], part["effect"], part["task"], strict=True):
            cells[f"{100 * share:g} %"] = effect_cell(mean, task)
        rows.append(cells)
    sections = table.sections
    if rows:
        section = Section(f"{title}, over all datasets", columns_of(rows), (SHARES_NOTE,))
        sections = (section, *sections)
    return Table(table.tidy, with_notes(sections, CONTEXT_NOTE))


def dose_folds(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each fold, kind and share; none of a model with a failed fold."""
    frames = []
    study = study.assign(constant=errors(study, "constant_"))
    for row in without_failures(study).to_dict("records"):
        scores = json.loads(row["doses"])
        for kind in PERTURBED:
            frames.append(_probed(row, scores[kind], kind))
    return _by_fold(frames, intact=0.0)


def contexts(study: pd.DataFrame) -> pd.DataFrame:
    """Means over folds for each base model and share, at prediction and in training.

    A model or a share with a failed fold has none.
    """
    study = with_columns(without_failures(study), ["contexts", "train_rows"])
    study = study.assign(
        constant=errors(study, "constant_"),
        share=[CONTEXT.train_rows(variant).share for variant in study["variant"]],
        rows=study["train_rows"],
    )
    frames = []
    for _, part in study.groupby(MODEL[:2], sort=False):
        for row in part.dropna(subset="contexts").to_dict("records"):
            frames.append(_probed(row, json.loads(row["contexts"]), AT_PREDICTION))
        frames.append(_scored(part.assign(variant=BASE, kind=IN_TRAINING), "test_"))
    return _means(_by_fold(frames, intact=1.0))


def _shares_over_datasets(means: pd.DataFrame) -> pd.DataFrame:
    """Mean `effect` of each share over at least six regressions, or classifications.

    They are those for which all models have all shares. `tables` counts them.
    """
    means = means.dropna(subset="effect")
    means = means.assign(title=method_titles(means), tables=kinds_of_tables(means))
    keys = ["tables", "title", "method", "kind"]
    shares = means.groupby(keys)["share"].nunique().groupby("tables").sum()
    sizes = means.groupby("dataset")["share"].transform("size")
    whole = means[sizes == means["tables"].map(shares)]
    groups = whole.groupby([*keys, "share"], sort=False)
    over = groups.agg(
        effect=("effect", "mean"), datasets=("effect", "size"), task=("task", "first")
    ).reset_index()
    over = over[over["datasets"] >= FEWEST_DIFFERENCES]
    return over.assign(tables=over["datasets"].astype(str) + " " + over["tables"])


def _probed(row: Mapping[Any, Any], scores: Any, kind: str) -> pd.DataFrame:
    """Shares of a row, from its scores by share."""
    facts = {name: row[name] for name in (*MODEL, "task", "fold", "constant")}
    return _scored(pd.DataFrame(scores).assign(**facts, kind=kind))


def _scored(rows: pd.DataFrame, prefix: str = "") -> pd.DataFrame:
    """Shares with their errors and losses."""
    scored = rows.assign(error=errors(rows, prefix), loss=losses(rows, prefix))
    return scored.reindex(columns=COLUMNS)


def _by_fold(frames: list[pd.DataFrame], intact: float) -> pd.DataFrame:
    """Means over seeds, with `effect`: the difference from the loss at the share `intact`."""
    shares = pd.concat(frames or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)
    folds = shares.groupby([*KEYS, "fold"], sort=False).mean(skipna=False).reset_index()
    keys = [folds[name] for name in (*KEYS[:-1], "fold")]
    before = folds["loss"].where(folds["share"] == intact).groupby(keys).transform("first")
    return folds.assign(effect=effect(before, folds["loss"]))


def _means(folds: pd.DataFrame) -> pd.DataFrame:
    """Means over folds for each model, kind and share; NaN if a fold has no value.

    `constant` is the error of a constant prediction, `rows` the mean number of rows.
    """
    groups = folds.groupby(KEYS, sort=False)
    means = groups[["rows", "error", "effect", "constant"]].mean(skipna=False)
    standard_errors = groups["error"].agg(standard_error)
    return means.assign(standard_error=standard_errors, folds=groups.size()).reset_index()


def dose_response_figure(study: pd.DataFrame) -> Figure:
    """Test error as more of the other rows are shuffled, and as fewer of them are left, with its
    standard error over folds. The dotted line is a constant prediction. A model with a flat line is
    not affected. Where a line reaches the dotted one, the model has no skill left.
    """
    folds = dose_folds(study)
    folds["title"] = method_titles(folds)
    folds["percent"] = 100 * folds["share"].where(folds["kind"] != "delete", 1 - folds["share"])
    styles = by_title(folds)
    figure, pairs = facets(folds, ["dataset", "kind"], 8)
    for (dataset, kind), part, axis in pairs:
        sns.lineplot(part, x="percent", y="error", errorbar="se", ax=axis, **styles)
        constant = part["constant"].mean()
        axis.axhline(constant, label="a constant", **EQUAL)
        if constant > WIDE * part["error"].min() > 0:
            logarithmic(axis.yaxis)
        else:
            axis.set_ylim(bottom=0)
        if kind == "delete":
            logarithmic(axis.xaxis)
            axis.invert_xaxis()
        change = "left" if kind == "delete" else "shuffled"
        axis.set(
            title=f"{dataset_title(dataset)}: others {PERTURBED[kind]}",
            xlabel=f"share of the other rows that is {change}, %",
            ylabel=error_label(part["task"].iloc[0]),
        )
    legend_below(figure, columns=3)
    return figure


def context_figure(study: pd.DataFrame) -> Figure:
    """Test error with fewer and fewer train rows. Solid: a model that was trained on all of them
    has a share at prediction. Dashed: the same settings trained on this share, with the
    hyper-parameters of baselines searched anew. The dotted line is a constant prediction, or a
    factor of 1. Where each kind of task that occurs has at least six datasets, lines are geometric
    means over them of the factor of the RMSE, or of the inverse probability of the true class.
    """
    means = contexts(study)
    means = means.assign(title=method_titles(means), panel=means["dataset"].map(dataset_title))
    means = means.assign(x=means["rows"], y=means["error"], equal=means["constant"])
    labels = ("train rows", "a constant")
    over = _shares_over_datasets(means)
    is_over = kinds_of_tables(over).nunique() == kinds_of_tables(means).nunique()
    if is_over:
        means = over.assign(panel=over["tables"], x=100 * over["share"], equal=1.0)
        means = means.assign(y=np.exp(over["effect"]))
        labels = ("share of the train rows, %", "all train rows")
    styles = by_title(means)
    figure, pairs = facets(means, "panel", 10)
    for panel, part, axis in pairs:
        for kind, lines in part.groupby("kind", sort=False):
            dashes = "--" if kind == IN_TRAINING else "-"
            sns.lineplot(lines, x="x", y="y", errorbar=None, linestyle=dashes, ax=axis, **styles)
        axis.axhline(part["equal"].mean(), label=labels[1], **EQUAL)
        logarithmic(axis.xaxis)
        if part["y"].min() > 0:
            logarithmic(axis.yaxis)
        task = part["task"].iloc[0]
        measure = (factor_label if is_over else error_label)(task)
        axis.set(title=panel, xlabel=labels[0], ylabel=measure)
    legend_below(figure, columns=3)
    return figure


def answer(tidy: pd.DataFrame) -> str:
    """What the largest deletion does to the error."""
    deleted = tidy[tidy["kind"] == "delete"]
    largest = deleted["share"].max()
    if not largest > 0:
        return ""
    most = deleted[deleted["share"] == largest]
    return effects_answer(most, f"Deleting {100 * largest:g} % of them")


VIEW = View(
    tables={"dose_response": dose_response_table},
    figures={"dose_response": dose_response_figure},
    answer=answer,
)
