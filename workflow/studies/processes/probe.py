"""Probe of a trained process: of curves where the table names their kernels, else of images."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from npt.nn.gaussian import Gaussians
from npt.processes.realisations import Realisations
from npt.processes.trained import TrainedProcess
from workflow.studies.processes.curves import KERNEL_COLUMN, curve_facts, means_of_points
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

SIDE = 28
RANDOM = (10, 30, 100)  # numbers of pixels
STEP = 4  # between the pixels of a coarse image
TITLES = {
    **{f"random_{count}": f"{count} random pixels" for count in RANDOM},
    "top_half": "top half",
    "coarse": f"every {STEP}th pixel",
}
PIXELS = SIDE**2
BATCH = 4  # images that are completed at once
SAMPLES = 3  # completions that are drawn, each for a draw of the latent variable
LEVELS = 255
LEAST_DEVIATION = 0.1  # of the reference, as of the models


def shown_pixels(task: str, seed: int) -> np.ndarray:
    """Indices of the shown pixels, row by row from the top left."""
    pixels = np.arange(SIDE**2)
    rows, columns = np.divmod(pixels, SIDE)
    if task == "top_half":
        return pixels[rows < SIDE // 2]
    if task == "coarse":
        offset = STEP // 2
        is_kept = (rows % STEP == offset) & (columns % STEP == offset)
        return pixels[is_kept]
    count = int(task.removeprefix("random_"))
    generator = np.random.default_rng(seed)
    return np.sort(generator.choice(pixels, count, replace=False))


@torch.no_grad()
def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Facts of the held-out curves or images, and the scores of all test rows."""
    is_of_curves = any(column.name == KERNEL_COLUMN for column in query.table.columns)
    facts = curve_facts(query) if is_of_curves else image_facts(query)
    return facts | query.test_scores(), {}


def image_facts(query: ProbeQuery) -> Facts:
    """Scores of each task over the images that have a probed row, and the first as an example."""
    model = cast(TrainedProcess, query.probe.trained)
    data = Realisations.from_table(query.table, query.split, model.device)
    x = data.x.cpu().numpy()
    raster = np.lexsort((x[:, 1], x[:, 0], data.number)).reshape(-1, PIXELS)  # rows by image
    probed = np.unique(data.number[query.rows])[: query.options.images]
    images = raster[np.isin(data.number[raster[:, 0]], probed)]
    is_for_training = (data.part[raster] == "train").all(1)
    values = data.y[torch.from_numpy(raster[is_for_training])]
    deviation = values.std(0, correction=0).clamp_min(LEAST_DEVIATION)
    by_pixel = Gaussians(values.mean(0)[None, None], deviation[None, None])  # the reference
    truth = data.y[torch.from_numpy(images)]
    reference = _scores(by_pixel, truth)
    tasks = []
    examples = []
    for task in TITLES:
        shown = shown_pixels(task, query.seed)
        hidden = np.setdiff1d(np.arange(PIXELS), shown)
        order = np.concatenate([shown, hidden])
        scores = []
        for start in range(0, len(images), BATCH):
            batch = data.tasks(images[start : start + BATCH, order], len(shown))
            scores.append(_scores(model.targets(batch), batch.y[:, len(shown) :]))
        means = means_of_points(scores)
        for name, points in reference.items():
            means[f"reference_{name}"] = float(points[:, hidden].double().mean())
        tasks.append({"task": task, "context": len(shown), **means})
        pictures = _pictures(model, data, images[0], order, len(shown))
        examples.append({"task": task, "shown": shown.tolist(), "pictures": pictures})
    return {
        "tasks": pd.DataFrame(tasks).to_dict("list"),
        "images": len(images),
        "examples": {"images": examples},
        "parameters": model.parameters,
    }


def _scores(predicted: Gaussians, y: Tensor) -> dict[str, Tensor]:
    """Log densities (B, n) and squared errors of values (B, n)."""
    return {
        "log_likelihood": predicted.log_likelihoods(y),
        "square": (predicted.marginal_mean() - y).square(),
    }


def _pictures(
    model: TrainedProcess, data: Realisations, image: np.ndarray, order: np.ndarray, shown: int
) -> list[list[int]]:
    """Intensities of the truth, of the completion and of samples of an image."""
    tasks = data.tasks(image[order][None], shown)
    predicted = model.gaussians(tasks)
    pictures = [tasks.y, predicted.marginal_mean()]
    if len(predicted.mean) > 1:  # draws of a latent variable
        pictures += predicted.mean[:SAMPLES]
    in_raster = np.argsort(order)
    intensities = []
    for picture in pictures:
        values = picture[0].double().cpu().numpy()[in_raster]
        levels = np.clip((values + 0.5) * LEVELS, 0, LEVELS)
        intensities.append(levels.round().astype(int).tolist())
    return intensities
