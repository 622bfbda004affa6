"""The test error with a share of the train rows, at prediction and in training."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from npt.table import Task
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, metric_decimals, number, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import by_model, fold_means, of_model, standard_error
from workflow.report.titles import dataset_title, method_title
from workflow.studies.context import ContextOptions
from workflow.studies.error_columns import columns_of
from workflow.studies.errors import effect, error_of, loss_of

AT_PREDICTION = "at prediction"
IN_TRAINING = "in training"
NOTE = (
    "Error is RMSE, or the percentage of wrong classes, as the mean over folds. `At prediction`: a "
    "model that was trained on all train rows has a share of them left. `In training`: the same "
    "settings trained on this share alone, with all validation rows. The rows are the same in "
    "both, and those of a smaller share are among those of a larger one. Baselines search their "
    "hyper-parameters anew on each share. What the first is better by was learned from the rows "
    "that are not there. Methods without stored rows are trained alone."
)
ERROR = ["dataset", "method", "task", "where", "share"]


def context(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Errors for each share, a row for each model at prediction and in training."""
    means = errors(study)
    rows = []
    for _, part in means.groupby(["dataset", "method", "where"], sort=False):
        rows.append(_cells(part))
    facts = [model.facts() for model in by_model(study)]
    models = pd.DataFrame(facts)
    notes = (NOTE, *failure_notes(models))
    title = "Test error by the share of train rows"
    section = Section(title, columns_of(rows), notes)
    failed = models[(models["reason"] != "") & (models["variant"] == BASE)]
    tidy = means.assign(reason="", variant=BASE)
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    return Table(tidy, (section,))


def errors(study: pd.DataFrame) -> pd.DataFrame:
    """Mean error over folds, with its standard error, for each model, share and way.

    `effect` is the mean difference from the loss with all rows, of the same test rows. `constant`
    is the error of a constant prediction, `rows` the mean number of rows. A model with a failed
    fold has no row.
    """
    rows: list[dict[str, Any]] = []
    folds = fold_means(study)
    for model in by_model(study):
        if model.variant != BASE or model.rows.empty:
            continue
        facts = {"dataset": model.dataset, "method": model.method, "task": model.task}
        probed: list[dict[str, Any]] = []
        of_base = of_model(study, model.facts())
        if "contexts" in of_base:
            of_base = of_base[of_base["contexts"].notna()]
        else:  # no method of the study is probed
            of_base = of_base[:0]
        for row in of_base.to_dict("records"):
            probed += _at_prediction(row, facts)
        rows += probed
        shares = {BASE: 1.0, **ContextOptions.of(study).trained_shares}
        rows += _in_training(folds, facts, shares)
    frame = pd.DataFrame(rows, columns=[*ERROR, "fold", "rows", "error", "loss", "constant"])
    by_fold = frame.groupby([*ERROR, "fold"], sort=False).mean().reset_index()
    with_all = by_fold["loss"].where(by_fold["share"] == 1)
    keys = [by_fold[name] for name in (*ERROR[:-1], "fold")]
    by_fold["effect"] = effect(with_all.groupby(keys).transform("first"), by_fold["loss"])
    groups = by_fold.groupby(ERROR, sort=False)
    means = groups.agg(
        rows=("rows", "mean"),
        error=("error", "mean"),
        standard_error=("error", standard_error),
        effect=("effect", "mean"),
        constant=("constant", "mean"),
        folds=("error", "size"),
    )
    return means.reset_index()


def _at_prediction(row: Mapping[Any, Any], facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A probed fold: an error for each share."""
    contexts = json.loads(row["contexts"])
    for scores in pd.DataFrame(contexts).to_dict("records"):
        yield {
            **facts,
            "where": AT_PREDICTION,
            "share": scores["share"],
            "fold": row["fold"],
            "rows": scores["rows"],
            "error": error_of(scores, facts["task"]),
            "loss": loss_of(scores, facts["task"]),
            "constant": error_of(row, facts["task"], prefix="constant_"),
        }


def _in_training(
    folds: pd.DataFrame, facts: Mapping[str, Any], shares: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Folds of the models that were trained on a share; none of a share with a failed fold.

    The base was trained on all rows.
    """
    for variant, share in shares.items():
        part = of_model(folds, {**facts, "variant": variant})
        if set(part["status"]) != {"ok"}:
            continue
        for row in part.to_dict("records"):
            scores = _test_scores(row, facts["task"])
            yield {
                **facts,
                "where": IN_TRAINING,
                "share": share,
                "fold": row["fold"],
                "rows": row["train_rows"],
                "error": error_of(scores, facts["task"]),
                "loss": loss_of(scores, facts["task"]),
                "constant": float("nan"),
            }


def _test_scores(row: Mapping[Any, Any], task: Task) -> dict[str, float]:
    """Metrics over all test rows; older probes of these have them as those of all train rows."""
    if pd.notna(row.get("test_rmse" if task == "regression" else "test_accuracy")):
        return {str(name).removeprefix("test_"): value for name, value in row.items()}
    return {name: values[0] for name, values in json.loads(row["contexts"]).items()}


def _cells(part: pd.DataFrame) -> dict[str, Cell]:
    first = part.iloc[0]
    cells = {
        "Dataset": text(dataset_title(first["dataset"])),
        "Method": text(method_title(first["method"], BASE)),
        "Share": text(first["where"]),
    }
    digits = metric_decimals(part["error"].min()) if first["task"] == "regression" else 1
    for row in part.to_dict("records"):
        cells[f"{100 * row['share']:g} %"] = number(row["error"], digits)
    return cells
