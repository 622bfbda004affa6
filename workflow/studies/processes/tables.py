"""Log-likelihoods of processes, what a target's company changes, and completed images."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd

from npt.nn.gaussian import LOWEST
from workflow.config.scoring import Scoring
from workflow.report.cells import NAN, Cell, count, number, seconds, text
from workflow.report.sections import Table
from workflow.report.statistics import MODEL, of_model, standard_error, without_failures
from workflow.report.titles import method_title
from workflow.studies.error_columns import probe_table
from workflow.studies.processes.tasks import TITLES

KERNELS = {"rbf": "RBF", "matern": "Matérn 5/2", "periodic": "periodic"}
PARTS = {"context": "context", "target": "target"}  # columns and their titles
CEILINGS = {
    "_ceiling": "Exact posterior",
    "_floored": f"Exact posterior, deviation at least {LOWEST}",
}
NOTE = (
    "Mean log density of a point in nats, with its standard error over seeds. Each point has the "
    "distribution that it has by itself; a latent variable is averaged out with the draws of the "
    "settings. Context points are shown to the model, targets are not. The models are trained on "
    "RBF curves. The exact posterior knows the kernel, its hyper-parameters and the noise of each "
    f"curve. The models predict no deviation below {LOWEST}, and the second row neither."
)
COMPANY_NOTE = (
    "`Together` and `Alone`: the mean log density of the same RBF targets, predicted together and "
    "one at a time, each time with the context's points. If targets attend to the context alone, "
    "both are equal. `Moved` is the mean change of a predicted mean, in predicted standard "
    "deviations."
)
COMPANY = {"together": "Together", "alone": "Alone", "moved": "Moved"}
REFERENCE = "Pixels of the training images"
IMAGES_NOTE = (
    "Mean log density of a hidden pixel in nats, and RMSE of the predicted mean; intensities are "
    "from -0.5 to 0.5. Means over seeds with standard errors. All tasks are asked of the same "
    "weights, which were trained on random pixels. The reference predicts each pixel by its mean "
    "and deviation over the training images. No deviation is below 0.1."
)
SCORES = {"log_likelihood": "log density", "rmse": "RMSE"}
REFERENCE_SCORES = {f"reference_{name}": title for name, title in SCORES.items()}


def likelihoods(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Log-likelihoods by kernel, a row for each model and one for the exact posterior."""
    points = facts_of(study, "kernels")
    if "tasks" in study:  # of images
        return Table(points, ())
    company = facts_of(study, "company")
    rows = []
    if len(points):
        for suffix, title in CEILINGS.items():
            columns = {f"{part}{suffix}": part for part in PARTS}
            cells = _score_cells(points, "kernel", KERNELS, columns, with_error=False)
            rows.append({"Method": text(title), **cells})
    for _, part in points.groupby(MODEL, sort=False):
        model = part.iloc[0].to_dict()
        cells = _score_cells(part, "kernel", KERNELS, PARTS)
        trained = of_model(study, model)
        times = [json.loads(training)["seconds"][-1] for training in trained["training"]]
        rows.append(
            {
                "Method": text(method_title(model["method"], model["variant"])),
                **cells,
                **_mean_cells(of_model(company, model), COMPANY),
                "Weights": count(trained["parameters"].mean()),
                "Training": seconds(sum(times) / len(times)),
            }
        )
    return probe_table(study, points, "Log-likelihood on curves", rows, NOTE, COMPANY_NOTE)


def completions(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Scores by task of images, a row for each model, and one for the reference."""
    tidy = facts_of(study, "tasks", ("task", "square", "reference_square"))
    for prefix in ("", "reference_"):
        tidy[f"{prefix}rmse"] = tidy[f"{prefix}square"].pow(0.5)
    if "kernels" in study:  # of curves
        return Table(tidy, ())
    rows = []
    if len(tidy):
        cells = _score_cells(tidy, "task", TITLES, REFERENCE_SCORES, with_error=False)
        rows.append({"Method": text(REFERENCE), **cells})
    for _, part in tidy.groupby(MODEL, sort=False):
        model = part.iloc[0]
        cells = _score_cells(part, "task", TITLES, SCORES)
        rows.append({"Method": text(method_title(model["method"], model["variant"])), **cells})
    return probe_table(study, tidy, "Completed images", rows, IMAGES_NOTE)


def facts_of(study: pd.DataFrame, column: str, names: tuple[str, ...] = ()) -> pd.DataFrame:
    """Facts of a column of all models without failures, a row for each model, seed and entry.

    Args:
        names: Facts that the frame has even if it is empty.
    """
    frames = [pd.DataFrame(columns=[*MODEL, "seed", *names], dtype=float)]
    if column in study:
        for row in without_failures(study).to_dict("records"):
            facts = pd.json_normalize(json.loads(row[column]), max_level=0)
            entries = facts.explode(list(facts.columns))
            frames.append(entries.assign(**{name: row[name] for name in (*MODEL, "seed")}))
    return pd.concat(frames[1:] or frames, ignore_index=True).infer_objects()


def _score_cells(
    part: pd.DataFrame,
    by: str,
    titles: Mapping[str, str],
    scores: Mapping[str, str],
    *,
    with_error: bool = True,
) -> dict[str, Cell]:
    """Means of some columns, by their titles, for each kernel or task."""
    cells = {}
    for group, rows in part.groupby(by, sort=False):
        columns = {name: f"{titles[str(group)]}, {title}" for name, title in scores.items()}
        cells |= _mean_cells(rows, columns, with_error=with_error)
    return cells


def _mean_cells(
    rows: pd.DataFrame, titles: Mapping[str, str], *, with_error: bool = True
) -> dict[str, Cell]:
    """Means of some columns with their standard errors over seeds, by their titles."""
    cells = {}
    for column, title in titles.items():
        error = standard_error(rows[column]) if with_error else NAN
        cells[title] = number(rows[column].mean(), 3, error=error)
    return cells
