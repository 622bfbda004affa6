"""Log-likelihoods of processes, and what a target's company changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, number, seconds, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model, standard_error
from workflow.report.titles import method_title, method_titles
from workflow.studies.error_columns import columns_of, texts, with_errors

TITLES = {"rbf": "RBF", "matern": "Matérn 5/2", "periodic": "periodic"}
CEILING = "Exact posterior"
NOTE = (
    "Mean log density of a point in nats, and its standard error over seeds. Each point has the "
    "distribution that it has by itself; the latent variable is averaged out with 50 draws. "
    "Context points are the shown ones, which a model may reproduce; targets are the others. "
    "Training curves have the RBF kernel, the other two are a shift. The exact posterior knows the "
    "kernel and its hyper-parameters, which no model does."
)
COMPANY_NOTE = (
    "Targets of the same curves, predicted together and one at a time, both with the context's "
    "points. A process whose targets attend to the context alone predicts the same. `Moved` is the "
    "mean change of a mean, in predicted standard deviations."
)
LIKELIHOOD = [*MODEL, "seed", "kernel", "part", "log_likelihood", "ceiling"]
PARTS = ("context", "target")


def likelihoods(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods by kernel, a row for each model and one for the exact posterior."""
    tidy = by_seed(study)
    rows = [_ceiling_cells(tidy)] if len(tidy) else []
    means = _means(tidy, "log_likelihood")
    for model, part in means.groupby(MODEL, sort=False):
        facts = _facts_of(study, dict(zip(MODEL, model, strict=True)))
        rows.append(_cells(part, facts))
    models = pd.DataFrame([model.facts() for model in by_model(study)])
    notes = (NOTE, *failure_notes(models))
    section = Section("Log-likelihood on curves", columns_of(rows), notes)
    failed = models[models["reason"] != ""]
    return Table(pd.concat([means.assign(reason=""), failed], ignore_index=True), (section,))


def company(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods of targets alone and together."""
    rows: list[dict[str, Any]] = []
    for row in _finished(study):
        facts = {name: row[name] for name in (*MODEL, "seed")}
        rows.append({**facts, **json.loads(row["company"])})
    names = ("together", "alone", "moved")
    tidy = pd.DataFrame(rows, columns=[*MODEL, "seed", "curves", "targets", *names])
    means = tidy.groupby(MODEL, sort=False)[list(names)].agg(["mean", standard_error])
    columns: dict[str, list[Cell]] = {"Method": texts(method_titles(means.index.to_frame()))}
    for name, title in zip(names, ("Together", "Alone", "Moved"), strict=True):
        columns[title] = with_errors(means[name], "mean", 3)
    section = Section("Targets together and alone", columns, (COMPANY_NOTE,))
    return Table(tidy, (section,))


def by_seed(study: pd.DataFrame) -> pd.DataFrame:
    """Log-likelihoods of every model, seed, kernel and part."""
    rows: list[dict[str, Any]] = []
    for row in _finished(study):
        rows += _likelihoods_of(row)
    return pd.DataFrame(rows, columns=LIKELIHOOD)


def _finished(study: pd.DataFrame) -> list[dict[Any, Any]]:
    if "kernels" not in study:
        return []
    return study[study["status"] == "ok"].to_dict("records")


def _likelihoods_of(row: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    facts = {name: row[name] for name in (*MODEL, "seed")}
    for kernel in pd.DataFrame(json.loads(row["kernels"])).to_dict("records"):
        for part in PARTS:
            yield {
                **facts,
                "kernel": kernel["kernel"],
                "part": part,
                "log_likelihood": kernel[part],
                "ceiling": kernel[f"{part}_ceiling"],
            }


def _means(tidy: pd.DataFrame, column: str) -> pd.DataFrame:
    """Means over seeds, with standard errors."""
    groups = tidy.groupby([*MODEL, "kernel", "part"], sort=False)
    means = groups.agg(
        mean=(column, "mean"),
        standard_error=(column, standard_error),
        ceiling=("ceiling", "mean"),
        seeds=("seed", "nunique"),
    )
    return means.reset_index()


def _facts_of(study: pd.DataFrame, model: Mapping[str, Any]) -> dict[str, float]:
    """Number of weights, and seconds of a training."""
    rows = study
    for name, value in model.items():
        rows = rows[rows[name] == value]
    lasts = [json.loads(training)["seconds"][-1] for training in rows["training"].dropna()]
    return {
        "parameters": float(rows["parameters"].mean()),
        "seconds": float(pd.Series(lasts, dtype=float).mean()),
    }


def _cells(part: pd.DataFrame, facts: Mapping[str, float]) -> dict[str, Cell]:
    first = part.iloc[0]
    cells = {"Method": text(method_title(first["method"], first["variant"]))}
    for row in part.to_dict("records"):
        cells[_title(row)] = number(row["mean"], 3, error=row["standard_error"])
    cells["Weights"] = count(facts["parameters"])
    cells["Training"] = seconds(facts["seconds"])
    return cells


def _ceiling_cells(tidy: pd.DataFrame) -> dict[str, Cell]:
    cells = {"Method": text(CEILING)}
    for _, part in tidy.groupby(["kernel", "part"], sort=False):
        row = part.iloc[0].to_dict()
        cells[_title(row)] = number(row["ceiling"], 3)
    return cells


def _title(row: Mapping[Any, Any]) -> str:
    return f"{TITLES[row['kernel']]}, {row['part']}"
