"""Log-likelihoods of processes, what a target's company changes, and completed images."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from npt.nn.gaussian import LOWEST
from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, number, seconds, text
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, of_model, standard_error
from workflow.report.titles import method_title, method_titles
from workflow.studies.error_columns import probe_table, texts, with_errors
from workflow.studies.processes.tasks import TITLES

KERNELS = {"rbf": "RBF", "matern": "Matérn 5/2", "periodic": "periodic"}
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
COMPANY = ("together", "alone", "moved")
REFERENCE = "Pixels of the training images"
IMAGES_NOTE = (
    "Mean log density of a hidden pixel in nats, and RMSE of the predicted mean; intensities are "
    "from -0.5 to 0.5. Means over seeds with standard errors. All tasks are asked of the same "
    "weights, which were trained on random pixels. The reference predicts each pixel by its mean "
    "and deviation over the training images. No deviation is below 0.1."
)
SCORES = {"log_likelihood": "log density", "rmse": "RMSE"}
IDENTITY = [*MODEL, "seed"]


def likelihoods(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods by kernel, a row for each model and one for the exact posterior."""
    points = _likelihoods(study)
    if "tasks" in study:  # of images
        return Table(points, ())
    rows: list[dict[str, Cell]] = []
    ceilings = points.drop_duplicates(["kernel", "part"]).to_dict("records")
    if ceilings:
        for name, title in CEILINGS.items():
            cells = {_heading(row): number(row[name], 3) for row in ceilings}
            rows.append({"Method": text(title), **cells})
    means = points.groupby([*MODEL, "kernel", "part"], sort=False).agg(
        mean=("log_likelihood", "mean"),
        standard_error=("log_likelihood", standard_error),
        ceiling=("ceiling", "mean"),
        seeds=("seed", "nunique"),
    )
    means = means.reset_index()
    for _, part in means.groupby(MODEL, sort=False):
        first = part.iloc[0].to_dict()
        cells = {"Method": text(method_title(first["method"], first["variant"]))}
        for row in part.to_dict("records"):
            cells[_heading(row)] = number(row["mean"], 3, error=row["standard_error"])
        trained = of_model(study, first)
        times = [json.loads(training)["seconds"][-1] for training in trained["training"].dropna()]
        cells["Weights"] = count(trained["parameters"].mean())
        cells["Training"] = seconds(float(np.mean(times)))
        rows.append(cells)
    return probe_table(study, means, "Log-likelihood on curves", rows, NOTE)


def company(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods of targets alone and together."""
    rows = []
    for row in finished_rows(study, "company"):
        rows.append({**_identity(row), **json.loads(row["company"])})
    tidy = pd.DataFrame(rows, columns=[*IDENTITY, "curves", "targets", *COMPANY])
    if "tasks" in study:  # of images
        return Table(tidy, ())
    groups = tidy.groupby(MODEL, sort=False)
    columns = {"Method": texts(method_titles(groups.size().index.to_frame()))}
    for name in COMPANY:
        means = groups[name].agg(["mean", standard_error])
        columns[name.capitalize()] = with_errors(means, "mean", 3)
    return Table(tidy, (Section("Targets together and alone", columns, (COMPANY_NOTE,)),))


def completions(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Scores by task of images, a row for each model, and one for the reference."""
    frames = [pd.DataFrame(columns=[*IDENTITY, "task", "log_likelihood", "rmse"])]
    for row in finished_rows(study, "tasks"):
        tasks = pd.DataFrame(json.loads(row["tasks"])).assign(**_identity(row))
        rmse = tasks["square"].pow(0.5)
        frames.append(tasks.assign(rmse=rmse, reference_rmse=tasks["reference_square"].pow(0.5)))
    tidy = pd.concat(frames[1:] or frames, ignore_index=True)
    if "kernels" in study:  # of curves
        return Table(tidy, ())
    rows = [_task_cells(REFERENCE, tidy, "reference_")] if len(tidy) else []
    for _, part in tidy.groupby(MODEL, sort=False):
        first = part.iloc[0]
        rows.append(_task_cells(method_title(first["method"], first["variant"]), part, ""))
    return probe_table(study, tidy, "Completed images", rows, IMAGES_NOTE)


def finished_rows(study: pd.DataFrame, column: str) -> list[dict[Any, Any]]:
    """Rows with a fact of the probe, of the models of which no training failed."""
    if column not in study:
        return []
    rows: list[dict[Any, Any]] = []
    for _, model in study.groupby(MODEL, sort=False):
        if "failed" not in set(model["status"]):
            rows += model[model["status"] == "ok"].to_dict("records")
    return rows


def _likelihoods(study: pd.DataFrame) -> pd.DataFrame:
    """Log-likelihoods of every model, seed, kernel and part."""
    points = []
    for row in finished_rows(study, "kernels"):
        for kernel in pd.DataFrame(json.loads(row["kernels"])).to_dict("records"):
            for part in PARTS:
                ceilings = {name: kernel[f"{part}_{name}"] for name in CEILINGS}
                facts = {"kernel": kernel["kernel"], "part": part, "log_likelihood": kernel[part]}
                points.append({**_identity(row), **facts, **ceilings})
    names = [*IDENTITY, "kernel", "part", "log_likelihood", *CEILINGS]
    return pd.DataFrame(points, columns=names)


def _identity(row: dict[Any, Any]) -> dict[str, Any]:
    return {name: row[name] for name in IDENTITY}


def _heading(row: dict[Any, Any]) -> str:
    return f"{KERNELS[row['kernel']]}, {row['part']}"


def _task_cells(title: str, part: pd.DataFrame, prefix: str) -> dict[str, Cell]:
    cells = {"Method": text(title)}
    for task, scores in part.groupby("task", sort=False):
        for name, score in SCORES.items():
            values = scores[f"{prefix}{name}"]
            error = float("nan") if prefix else standard_error(values)
            cells[f"{TITLES[str(task)]}, {score}"] = number(values.mean(), 3, error=error)
    return cells
