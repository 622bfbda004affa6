"""Log-likelihoods and errors of completed images, and examples of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from npt.nn.gaussian import Gaussians
from npt.processes.realisations import Realisations
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from workflow.studies.completion.tasks import SIDE, TITLES, shown_pixels
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

PIXELS = SIDE**2
BATCH = 4  # images that are completed at once
LEVELS = 255
MIDDLE = PIXELS // 2 + SIDE // 2
DIGITS = 4
LEAST_DEVIATION = 0.1  # of the reference, as of the models


@torch.no_grad()
def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Scores of each task over the images that have a probed row, and examples."""
    model = cast(TrainedProcess, query.model)
    options = query.options
    data = Realisations.of(query.table, query.split, model.device)
    images = _images(query, data)[: options.images]
    reference = _reference(data)
    tasks: dict[str, list[Any]] = {}
    examples: list[Facts] = []
    drawn = images[options.shown % len(images)]
    for task in TITLES:
        shown = shown_pixels(task, query.seed)
        scores = _scores(model, data, images, shown, reference)
        facts_of_task = {
            "task": task,
            "context": len(shown),
            **scores,
        }
        for name, fact in facts_of_task.items():
            tasks.setdefault(name, []).append(fact)
        example = _example(model, data, drawn, shown, options.samples)
        examples.append({"task": task, **example})
    facts: Facts = {
        "tasks": tasks,
        "images": len(images),
        "examples": {"images": examples},
        "parameters": model.parameters,
    }
    facts |= query.test_scores()
    return facts, {}


def _images(query: ProbeQuery, data: Realisations) -> list[np.ndarray]:
    """Row numbers (784,) of the pixels of every probed image, row by row from the top left."""
    images: list[np.ndarray] = []
    for number in np.unique(data.number[query.rows]):
        rows = np.flatnonzero(data.number == number)
        images.append(_in_order(rows, data))
    return images


def _in_order(rows: np.ndarray, data: Realisations) -> np.ndarray:
    """The rows of an image, row by row from the top left."""
    x = data.x[torch.from_numpy(rows)].cpu().numpy()
    columns = x[:, 1]
    order = np.lexsort((columns, x[:, 0]))
    return rows[order]


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
    of_pixels = Gaussians(
        mean=reference.mean[..., hidden],
        deviation=reference.deviation[..., hidden],
    )
    sums: dict[str, list[Tensor]] = {}
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        rows = np.stack(batch)  # (B, 784)
        reordered = rows[:, order]
        tasks = data.tasks(reordered, len(shown))
        y = tasks.y[:, tasks.context :]
        predicted = model.targets(tasks)
        values = {
            "log_likelihood": predicted.log_likelihoods(y),
            "square": _squares(predicted, y),
            "reference_log_likelihood": of_pixels.log_likelihoods(y),
            "reference_square": _squares(of_pixels, y),
        }
        for name, of_batch in values.items():
            sums.setdefault(name, []).append(of_batch.flatten())
    means: dict[str, float] = {}
    for name, parts in sums.items():
        values_of_all = torch.cat(parts).double()
        means[name] = float(values_of_all.mean())
    return means


def _squares(predicted: Gaussians, y: Tensor) -> Tensor:
    errors = predicted.marginal_mean() - y
    return errors.square()


def _shown_first(shown: np.ndarray) -> np.ndarray:
    """All pixels, the shown ones first."""
    hidden = np.setdiff1d(np.arange(PIXELS), shown)
    return np.concatenate([shown, hidden])


def _example(
    model: TrainedProcess,
    data: Realisations,
    image: np.ndarray,
    shown: np.ndarray,
    samples: int,
) -> Facts:
    """The truth, the completion and samples of an image, and attention of its middle pixel."""
    order = _shown_first(shown)
    rows = image[order]
    tasks = data.tasks(rows[None], len(shown))
    predicted = model.gaussians(tasks)
    pictures = [tasks.y, predicted.marginal_mean()]
    if len(predicted.mean) > 1:  # draws of a latent variable
        pictures += predicted.mean[:samples]
    intensities: list[list[int]] = []
    for picture in pictures:
        values = np.empty(PIXELS)
        of_image = picture[0].double()
        values[order] = of_image.cpu().numpy()
        levels = np.clip((values + 0.5) * LEVELS, 0, LEVELS)
        rounded_levels = levels.round().astype(int)
        intensities.append(rounded_levels.tolist())
    return {
        "shown": shown.tolist(),
        "pictures": intensities,
        "attention": _attention(model, tasks, order),
    }


def _attention(model: TrainedProcess, tasks: Tasks, order: np.ndarray) -> list[Any]:
    """Attention of the middle pixel to the context, by head."""
    points = order.tolist()
    middle = points.index(MIDDLE)
    weights = model.model.attention_weights(tasks)  # (1, H, 784, m)
    heads = weights[0, :, middle].double()  # (H, m)
    return [rounded(head, DIGITS) for head in heads.cpu().numpy()]
