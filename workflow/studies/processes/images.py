"""Log-likelihoods and errors of completed images, and examples of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from npt.nn.gaussian import Gaussians
from npt.processes.realisations import Realisations
from npt.processes.trained import TrainedProcess
from workflow.studies.processes.tasks import SIDE, TITLES, shown_pixels
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

PIXELS = SIDE**2
BATCH = 4  # images that are completed at once
LEVELS = 255
MIDDLE = PIXELS // 2 + SIDE // 2
DIGITS = 4
LEAST_DEVIATION = 0.1  # of the reference, as of the models


def image_facts(query: ProbeQuery) -> Facts:
    """Scores of each task over the images that have a probed row, and examples."""
    model = cast(TrainedProcess, query.model)
    options = query.options
    data = Realisations.from_table(query.table, query.split, model.device)
    probed = np.unique(data.number[query.rows])[: options.images]
    images = [_in_order(np.flatnonzero(data.number == number), data) for number in probed]
    reference = _reference(data)
    tasks: dict[str, list[Any]] = {}
    examples: list[Facts] = []
    for task in TITLES:
        shown = shown_pixels(task, query.seed)
        scores = _scores(model, data, images, shown, reference)
        for name, fact in {"task": task, "context": len(shown), **scores}.items():
            tasks.setdefault(name, []).append(fact)
        image = images[options.image % len(images)]
        example = _example(model, data, image, shown, options.samples)
        examples.append({"task": task, **example})
    return {
        "tasks": tasks,
        "images": len(images),
        "examples": {"images": examples},
        "parameters": model.parameters,
    }


def _in_order(rows: np.ndarray, data: Realisations) -> np.ndarray:
    """The rows of an image, row by row from the top left."""
    x = data.x[torch.from_numpy(rows)].cpu().numpy()
    return rows[np.lexsort((x[:, 1], x[:, 0]))]


def _reference(data: Realisations) -> Gaussians:
    """Each pixel's mean and deviation over the training images, as (1, 1, 784)."""
    images = [_in_order(rows, data) for rows in data.for_training()]
    rows = np.stack(images)  # (T, 784)
    values = data.y[torch.from_numpy(rows)]
    deviation = values.std(0, correction=0).clamp_min(LEAST_DEVIATION)
    mean = values.mean(0)
    return Gaussians(
        mean=mean[None, None],
        deviation=deviation[None, None],
    )


def _scores(
    model: TrainedProcess,
    data: Realisations,
    images: list[np.ndarray],
    shown: np.ndarray,
    reference: Gaussians,
) -> dict[str, float]:
    """Mean log density and RMSE of the hidden pixels, of the model and of the reference."""
    order = _shown_first(shown)
    hidden = order[len(shown) :]
    by_pixel = Gaussians(reference.mean[..., hidden], reference.deviation[..., hidden])
    sums: dict[str, list[Tensor]] = {}
    for start in range(0, len(images), BATCH):
        rows = np.stack(images[start : start + BATCH])  # (B, 784)
        tasks = data.tasks(rows[:, order], len(shown))
        y = tasks.y[:, tasks.context :]
        predicted = model.targets(tasks)
        values = {
            "log_likelihood": predicted.log_likelihoods(y),
            "square": _squares(predicted, y),
            "reference_log_likelihood": by_pixel.log_likelihoods(y),
            "reference_square": _squares(by_pixel, y),
        }
        for name, scores in values.items():
            sums.setdefault(name, []).append(scores.flatten())
    return {name: float(torch.cat(parts).double().mean()) for name, parts in sums.items()}


def _squares(predicted: Gaussians, y: Tensor) -> Tensor:
    return (predicted.marginal_mean() - y).square()


def _shown_first(shown: np.ndarray) -> np.ndarray:
    """All pixels, the shown ones first."""
    return np.concatenate([shown, np.setdiff1d(np.arange(PIXELS), shown)])


def _example(
    model: TrainedProcess,
    data: Realisations,
    image: np.ndarray,
    shown: np.ndarray,
    samples: int,
) -> Facts:
    """The truth, the completion and samples of an image, and attention of its middle pixel."""
    order = _shown_first(shown)
    tasks = data.tasks(image[order][None], len(shown))
    predicted = model.gaussians(tasks)
    pictures = [tasks.y, predicted.marginal_mean()]
    if len(predicted.mean) > 1:  # draws of a latent variable
        pictures += predicted.mean[:samples]
    intensities: list[list[int]] = []
    for picture in pictures:
        values = np.empty(PIXELS)
        values[order] = picture[0].double().cpu().numpy()
        levels = np.clip((values + 0.5) * LEVELS, 0, LEVELS)
        intensities.append(levels.round().astype(int).tolist())
    weights = model.model.attention_weights(tasks)  # (1, H, 784, m)
    heads = weights[0, :, order.tolist().index(MIDDLE)].double()  # (H, m)
    return {
        "shown": shown.tolist(),
        "pictures": intensities,
        "attention": [rounded(head, DIGITS) for head in heads.cpu().numpy()],
    }
