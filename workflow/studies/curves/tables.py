"""Log-likelihoods of processes, and what a target's company changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from npt.nn.gaussian import LOWEST
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, number, seconds, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model, of_model, standard_error
from workflow.report.titles import method_title, method_titles
from workflow.studies.error_columns import columns_of, texts, with_errors
from workflow.studies.process_rows import finished_rows

TITLES = {
    "rbf": "RBF",
    "matern": "Matérn 5/2",
    "periodic": "periodic",
}
PARTS = ("context", "target")
CEILINGS = {
    "ceiling": "Exact posterior",
    "floored": f"Exact posterior, deviation at least {LOWEST}",
}
NOTE = (
    "Mean log density of a point in nats, with its standard error over seeds. Each point has the "
    "distribution that it has by itself; a latent variable is averaged out with the draws of the "
    "settings. Context points are shown to the model, targets are not. The models are trained on "
    "RBF curves. The exact posterior knows the kernel, its hyper-parameters and the noise of each "
    f"curve. The models predict no deviation below {LOWEST}, and the second row neither."
)
COMPANY_NOTE = (
    "Mean log density of the same targets, predicted together and one at a time, each time with "
    "the context's points. Where targets attend to the context alone, both are equal. `Moved` is "
    "the mean change of a predicted mean, in predicted standard deviations."
)
COMPANY = {
    "together": "Together",
    "alone": "Alone",
    "moved": "Moved",
}
COMPANY_COLUMNS = [
    *MODEL,
    "seed",
    "curves",
    "targets",
    *COMPANY,
]
LIKELIHOOD = [
    *MODEL,
    "seed",
    "kernel",
    "part",
    "log_likelihood",
    *CEILINGS,
]
Facts = dict[Any, Any]


def likelihoods(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods by kernel, a row for each model and one for the exact posterior."""
    tidy = by_seed(study)
    means = _means(tidy)
    rows: list[dict[str, Cell]] = []
    if len(tidy):
        for name, title in CEILINGS.items():
            rows.append(_ceiling_cells(tidy, name, title))
    for names, part in means.groupby(MODEL, sort=False):
        model = dict(zip(MODEL, names, strict=True))
        of_study = of_model(study, model)
        rows.append(_cells(part, of_study))
    facts = [model.facts() for model in by_model(study)]
    models = pd.DataFrame(facts)
    columns = columns_of(rows)
    notes = (NOTE, *failure_notes(models))
    section = Section("Log-likelihood on curves", columns, notes)
    tidy_means = means.assign(reason="")
    failed = models[models["reason"] != ""]
    if len(failed):
        tidy_means = pd.concat([tidy_means, failed], ignore_index=True)
    return Table(tidy_means, (section,))


def company(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods of targets alone and together."""
    rows: list[Facts] = []
    for row in finished_rows(study, "kernels"):
        counts = json.loads(row["company"])
        rows.append({**_identity(row), **counts})
    tidy = pd.DataFrame(rows, columns=COMPANY_COLUMNS)
    groups = tidy.groupby(MODEL, sort=False)
    models = groups.size().index.to_frame()
    columns = {"Method": texts(method_titles(models))}
    for name, title in COMPANY.items():
        of_name = groups[name]
        means = of_name.agg(["mean", standard_error])
        columns[title] = with_errors(means, "mean", 3)
    section = Section("Targets together and alone", columns, (COMPANY_NOTE,))
    return Table(tidy, (section,))


def by_seed(study: pd.DataFrame) -> pd.DataFrame:
    """Log-likelihoods of every model, seed, kernel and part."""
    rows: list[Facts] = []
    for row in finished_rows(study, "kernels"):
        rows += _likelihoods_of(row)
    return pd.DataFrame(rows, columns=LIKELIHOOD)


def _identity(row: Facts) -> Facts:
    names = (*MODEL, "seed")
    return {name: row[name] for name in names}


def _likelihoods_of(row: Facts) -> Iterator[Facts]:
    columns = json.loads(row["kernels"])
    kernels = pd.DataFrame(columns)
    for kernel in kernels.to_dict("records"):
        for part in PARTS:
            yield {
                **_identity(row),
                "kernel": kernel["kernel"],
                "part": part,
                "log_likelihood": kernel[part],
                "ceiling": kernel[f"{part}_ceiling"],
                "floored": kernel[f"{part}_floored"],
            }


def _means(tidy: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, with standard errors."""
    keys = [*MODEL, "kernel", "part"]
    groups = tidy.groupby(keys, sort=False)
    means = groups.agg(
        mean=("log_likelihood", "mean"),
        standard_error=("log_likelihood", standard_error),
        ceiling=("ceiling", "mean"),
        seeds=("seed", "nunique"),
    )
    return means.reset_index()


def _cells(part: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Cell]:
    """The table's row of a model, from its means and its rows of the study."""
    first = part.iloc[0]
    title = method_title(first["method"], first["variant"])
    cells = {"Method": text(title)}
    for row in part.to_dict("records"):
        error = row["standard_error"]
        cells[_title(row)] = number(row["mean"], 3, error=error)
    lasts: list[float] = []
    for training in rows["training"].dropna():
        evaluations = json.loads(training)
        lasts.append(evaluations["seconds"][-1])
    weights = rows["parameters"].mean()
    mean_seconds = np.mean(lasts)
    cells["Weights"] = count(weights)
    cells["Training"] = seconds(float(mean_seconds))
    return cells


def _ceiling_cells(tidy: pd.DataFrame, name: str, title: str) -> dict[str, Cell]:
    cells = {"Method": text(title)}
    groups = tidy.groupby(["kernel", "part"], sort=False)
    for _, part in groups:
        row = part.iloc[0].to_dict()
        ceiling = row[name]
        cells[_title(row)] = number(ceiling, 3)
    return cells


def _title(row: Facts) -> str:
    kernel = TITLES[row["kernel"]]
    return f"{kernel}, {row['part']}"
