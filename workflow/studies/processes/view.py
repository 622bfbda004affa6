"""Log-likelihoods of processes, their training, and completed images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from npt.nn.gaussian import LOWEST
from workflow.presentation.cells import Cell, count, number, seconds, text
from workflow.presentation.drawing import legend_below, logarithmic, method_styles, panels
from workflow.presentation.sections import Table, View, probe_table
from workflow.presentation.statistics import MODEL, facts_of, first_facts, of_model, standard_error
from workflow.presentation.titles import method_title, method_titles
from workflow.studies.processes.images import LEVELS, TITLES

KERNELS = {"rbf": "RBF", "matern": "Matérn 5/2", "periodic": "periodic"}
PARTS = {"context": "context", "target": "target"}  # columns and their titles
CEILINGS = {
    "Exact posterior": {f"{part}_ceiling": part for part in PARTS},
    f"Exact posterior, deviation at least {LOWEST}": {f"{part}_floored": part for part in PARTS},
}
NOTE = (
    "Mean log density of a point in nats, with its standard error over folds, or over the seeds of "
    "one. Each point has the distribution that it has by itself; a latent variable is averaged out "
    "with the draws of the settings. Context points are shown to the model, targets are not. The "
    "models are trained on RBF curves. The exact posterior knows the kernel, its hyper-parameters "
    "and the noise of each curve. The models predict no deviation below "
    f"{LOWEST}, and the second row neither."
)
COMPANY_NOTE = (
    "`Together` and `Alone`: the mean log density of the same RBF targets, predicted together and "
    "one at a time, each time with the context's points. If targets attend to the context alone, "
    "both are equal. `Moved` is the mean change of a predicted mean, in predicted standard "
    "deviations."
)
COMPANY = {"together": "Together", "alone": "Alone", "moved": "Moved"}
IMAGES_NOTE = (
    "Mean log density of a hidden intensity in nats (a coloured pixel has three), and RMSE of the "
    "predicted mean; intensities are from -0.5 to 0.5. Means over seeds with standard errors. All "
    "tasks are asked of the same weights, which were trained on random pixels. The reference "
    "predicts each pixel by its mean and deviation over the training images. No deviation is "
    "below 0.1."
)
ROLES = {"trained": "Roles", "untrained": "Roles, untrained"}
ROLES_NOTE = (
    "`Roles`: the share of the variance between heads of where they attend to, relative to the "
    "query, over queries and images. At 1, a head attends to the same relative place for each of "
    "them; at 0, no head differs from the others."
)
SCORES = {"log_likelihood": "log density", "rmse": "RMSE"}
REFERENCE = {
    "Pixels of the training images": {f"reference_{name}": title for name, title in SCORES.items()}
}
AGAINST = {"update": "updates", "seconds": "seconds"}
SHARE_BELOW = 0.1  # of the evaluations, which may be below the axis
GAP = 4  # pixels between pictures
ROWS = 3  # lines of text that a picture is high
HIDDEN = (0.55, 0.7, 0.9)  # color of a pixel that is not shown


def likelihoods(study: pd.DataFrame) -> Table:
    """Log-likelihoods by kernel of curves, or scores by task of images.

    A row for each model, below those of the exact posterior or of the reference.
    """
    if "tasks" in study:
        tidy = facts_of(study, "tasks", ("task", "square", "reference_square"))
        for prefix in ("", "reference_"):
            tidy[f"{prefix}rmse"] = tidy[f"{prefix}square"].pow(0.5)
        rows = _rows(tidy, "task", TITLES, SCORES, REFERENCE)
        roles = facts_of(study, "roles", ROLES)
        notes = [IMAGES_NOTE]
        if roles["trained"].notna().any():
            notes.append(ROLES_NOTE)
            for model, cells in zip(_models(tidy), rows[len(REFERENCE) :], strict=False):
                cells |= _means(of_model(roles, model), ROLES)
        return probe_table(study, tidy, "Completed images", rows, *notes)
    tidy = facts_of(study, "kernels", ("kernel",))
    rows = _rows(tidy, "kernel", KERNELS, PARTS, CEILINGS)
    company = facts_of(study, "company")
    training = facts_of(study, "training")
    for model, cells in zip(_models(tidy), rows[len(CEILINGS) :], strict=False):
        cells |= _means(of_model(company, model), COMPANY)
        cells["Weights"] = count(of_model(study, model)["parameters"].mean())
        duration = of_model(training, model).groupby("seed")["seconds"].last()
        cells["Training"] = seconds(duration.mean())
    return probe_table(study, tidy, "Log-likelihood on curves", rows, NOTE, COMPANY_NOTE)


def _models(tidy: pd.DataFrame) -> list[dict[Any, Any]]:
    """Dataset, method and variant of each model."""
    return tidy.drop_duplicates(MODEL).to_dict("records")


def _rows(
    tidy: pd.DataFrame,
    group: str,
    groups: Mapping[str, str],
    scores: Mapping[str, str],
    references: Mapping[str, Mapping[str, str]],
) -> list[dict[str, Cell]]:
    """Means of scores in each kernel or task, of the references and of the models.

    Args:
        groups: Titles of the kernels or tasks.
        scores: Titles of columns.
        references: Titles of their columns, by title.
    """
    exact = tidy.drop_duplicates([group, "fold"])  # of references, the same for models and seeds
    parts = [(title, exact, columns) for title, columns in references.items() if len(exact)]
    for _, part in tidy.groupby(MODEL, sort=False):
        parts.append((method_titles(part)[0], part, scores))
    rows = []
    for title, part, columns in parts:
        row = {"Method": text(title)}
        for name, group_rows in part.groupby(group, sort=False):
            titles = {column: f"{groups[str(name)]}, {score}" for column, score in columns.items()}
            row |= _means(group_rows, titles)
        rows.append(row)
    return rows


def _means(rows: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, Cell]:
    """Means of some columns by their titles, with standard errors over folds, or seeds of one."""
    over = "fold" if rows["fold"].nunique() > 1 else "seed"
    rows = rows.astype(dict.fromkeys(titles, float)).groupby(over)[list(titles)].mean()
    cells = {}
    for column, title in titles.items():
        error = standard_error(rows[column])
        cells[title] = number(rows[column].mean(), 3, error=error)
    return cells


def training(study: pd.DataFrame) -> Figure:
    """Mean log density of context points and of targets on held-out curves during the training,
    against updates and against seconds. Means over seeds. The first evaluations may be below the
    axis.
    """
    evaluations = facts_of(study, "training", ("update",))
    means = evaluations.groupby([*MODEL, "update"], sort=False).mean(numeric_only=True)
    means = means.reset_index()
    if means.empty:
        return panels(0, 0)[0]
    means["title"] = method_titles(means)
    styles = method_styles(means)
    places = [(part, against) for part in PARTS for against in AGAINST]
    figure, axes = panels(len(places), 9)
    for axis, (part, against) in zip(axes, places, strict=True):
        for title, line in means.groupby("title", sort=False):
            axis.plot(line[against], line[part], color=styles[str(title)][0], label=title)
        axis.set(xlabel=AGAINST[against], ylabel=f"{part} points, nats")
        logarithmic(axis.xaxis)
        axis.set_ylim(bottom=float(means[part].quantile(SHARE_BELOW)))
    legend_below(figure, columns=3)
    return figure


def completions(study: pd.DataFrame) -> Figure:
    """One held-out image: the shown pixels of each task, the predicted mean, the same at twice the
    resolution, and means for single draws of the latent variable. A model without a latent variable
    has no samples. All tasks are asked of the same weights.
    """
    labels = []
    lines = []
    for row, examples in first_facts(study, "examples"):
        for image in examples.get("images", []):
            title = method_title(row["method"], row["variant"])
            labels.append(f"{title}\n{TITLES[image['task']]}")
            lines.append(_pictures(image))
    if not lines:
        return panels(0, 0)[0]
    cell = max(len(picture) for line in lines for picture in line) + GAP
    columns = max(map(len, lines))
    mosaic = np.ones((len(lines) * cell, columns * cell, 3))
    for line, pictures in enumerate(lines):
        for column, picture in enumerate(pictures):
            height, width, _ = picture.shape
            top, left = line * cell, column * cell
            mosaic[top : top + height, left : left + width] = picture
    figure, (axis,) = panels(1, ROWS * len(lines), columns=1)
    axis.imshow(mosaic, interpolation="nearest")
    axis.grid(visible=False)
    samples = [f"sample {index}" for index in range(1, columns - 2)]
    middles = cell * np.arange(max(columns, len(lines))) + cell / 2
    axis.set_xticks(middles[:columns], ["shown", "mean", "finer", *samples])
    axis.set_yticks(middles[: len(lines)], labels)
    return figure


def _pictures(image: Mapping[str, Any]) -> list[np.ndarray]:
    """Colours (2 h, 2 w, 3) of the shown pixels, the mean, the fine mean and the samples."""
    truth, *completions = (np.array(picture) / LEVELS for picture in image["pictures"])
    hidden = np.array(image["shown"]) == 0  # (h, w)
    shown = np.broadcast_to(truth, (*hidden.shape, 3)).copy()
    shown[hidden] = HIDDEN
    coarse = [picture.repeat(2, 0).repeat(2, 1) for picture in (shown, *completions)]
    pictures = [*coarse[:2], np.array(image["fine"]) / LEVELS, *coarse[2:]]
    return [np.broadcast_to(picture, (*picture.shape[:2], 3)) for picture in pictures]


VIEW = View(
    tables={"likelihoods": likelihoods},
    figures={"training": training, "completions": completions},
    optional={
        "training": lambda study: "kernels" in study,
        "completions": lambda study: "tasks" in study,
    },
)
