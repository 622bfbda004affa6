"""Completion of held-out images, at twice their resolution too, and the roles of attention heads.

Images have h rows of w pixels in c channels, or none. A point is an intensity.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from npt.data.pixels import position
from npt.nn.gaussian import Gaussians
from npt.nn.trained_network import build_model
from npt.processes.realisations import Realisations
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess, build
from workflow.studies.processes.curves import means_of_points
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

RANDOM = (10, 30, 100)  # numbers of pixels
STEP = 4  # between the pixels of a coarse image
TITLES = {
    **{f"random_{count}": f"{count} random pixels" for count in RANDOM},
    "top_half": "top half",
    "coarse": f"every {STEP}th pixel both ways",
}
ROLES = f"random_{RANDOM[-1]}"  # task in which heads are compared
BATCH = 4  # images that are completed at once
SAMPLES = 3  # completions that are drawn, each for a draw of the latent variable
LEVELS = 255
LEAST_DEVIATION = 0.1  # of the reference, as of the models


def shown_pixels(task: str, seed: int, height: int, width: int) -> np.ndarray:
    """Which pixels (h, w) are shown."""
    rows, columns = np.indices((height, width))
    if task == "top_half":
        return rows < height // 2
    if task == "coarse":
        offset = STEP // 2
        return (rows % STEP == offset) & (columns % STEP == offset)
    count = int(task.removeprefix("random_"))
    chosen = np.random.default_rng(seed).choice(height * width, count, replace=False)
    return np.isin(rows * width + columns, chosen)


def image_facts(query: ProbeQuery) -> Facts:
    """Scores of each task over the images that have a probed row, and the first as an example."""
    model = cast(TrainedProcess, query.probe.trained)
    data = Realisations.from_table(query.table, query.split, model.device)
    x = data.x.cpu().numpy()
    shape = tuple(len(np.unique(coordinates)) for coordinates in x.T)  # (h, w), or (h, w, c)
    by_place = np.lexsort((*x.T[::-1], data.number))
    raster = by_place.reshape(-1, int(np.prod(shape)))  # rows by image
    probed = np.unique(data.number[query.rows])[: query.options.images]
    images = raster[np.isin(data.number[raster[:, 0]], probed)]
    is_for_training = (data.part[raster] == "train").all(1)
    values = data.y[torch.from_numpy(raster[is_for_training])]
    deviation = values.std(0, correction=0).clamp_min(LEAST_DEVIATION)
    by_point = Gaussians(values.mean(0)[None, None], deviation[None, None])  # the reference
    truth = data.y[torch.from_numpy(images)]
    reference = _scores(by_point, truth)
    tasks = []
    examples = []
    roles: Facts = {}
    for task in TITLES:
        is_shown = shown_pixels(task, query.seed, *shape[:2])
        is_context = is_shown.repeat(int(np.prod(shape[2:])))  # of the points
        order = np.argsort(~is_context, kind="stable")  # the context, then the hidden points
        context = int(is_context.sum())
        starts = range(0, len(images), BATCH)
        batches = [data.tasks(images[at : at + BATCH, order], context) for at in starts]
        scores = [_scores(model.targets(batch), batch.y[:, context:]) for batch in batches]
        means = means_of_points(scores)
        for name, points in reference.items():
            means[f"reference_{name}"] = float(points[:, order[context:]].double().mean())
        tasks.append({"task": task, "context": int(is_shown.sum()), **means})
        pictures = _pictures(model, batches[0].take(slice(1)), order, shape)
        examples.append({"task": task, "shown": is_shown.astype(int).tolist(), **pictures})
        if task == ROLES:
            arguments = (model.settings, len(shape))
            untrained = build_model(build, model.seed, model.device, *arguments)
            roles["trained"] = role_share(model.model, batches)
            roles["untrained"] = role_share(untrained, batches)
    return {
        "tasks": pd.DataFrame(tasks).to_dict("list"),
        "images": len(images),
        "examples": {"images": examples},
        "roles": roles,
        "parameters": model.parameters,
    }


def role_share(network: nn.Module, batches: list[Tasks]) -> float | None:
    """Share of the variance between heads of where they attend to, relative to the query.

    Where is the attended mean of the distance and of the offset in each coordinate. At 1, a head
    attends to the same relative place for every query of every image; at 0, no head differs from
    the others. None without heads.
    """
    attention = getattr(network, "attention", None)
    if attention is None or attention.multihead is None:
        return None
    places = []
    for tasks in batches:
        weights = attention.weights(tasks.shown_x, tasks.x)  # (B, H, n, m)
        offsets = tasks.shown_x[:, None] - tasks.x[:, :, None]  # (B, n, m, d)
        offsets = torch.cat([offsets, offsets.norm(dim=-1, keepdim=True)], -1)  # (B, n, m, d + 1)
        attended = torch.einsum("bhnm,bnmd->hbnd", weights, offsets)
        places.append(attended.flatten(1, 2).double())  # (H, B n, d + 1)
    where = torch.cat(places, 1)
    total = where.flatten(0, 1).var(0, correction=0).sum()
    between = where.mean(1).var(0, correction=0).sum()
    return float(between / total)


def _scores(predicted: Gaussians, y: Tensor) -> dict[str, Tensor]:
    """Log densities (B, n) and squared errors of values (B, n)."""
    return {
        "log_likelihood": predicted.log_likelihoods(y),
        "square": (predicted.marginal_mean() - y).square(),
    }


def _pictures(
    model: TrainedProcess, tasks: Tasks, order: np.ndarray, shape: tuple[int, ...]
) -> Facts:
    """Intensities of one image: the truth, its completion and samples; and at twice the resolution.

    Args:
        order: Place of each point in the image.
    """
    predicted = model.gaussians(tasks)
    pictures = [tasks.y, predicted.marginal_mean()]
    if len(predicted.mean) > 1:  # draws of a latent variable
        pictures += predicted.mean[:SAMPLES]
    in_raster = torch.from_numpy(np.argsort(order))
    twice = twice_as_fine(shape).to(tasks.x)[None]
    asked = torch.cat([tasks.shown_x, twice], 1)
    unknown = torch.cat([tasks.shown_y, torch.zeros_like(twice[..., 0])], 1)
    fine = model.targets(Tasks(asked, unknown, tasks.context)).marginal_mean()
    return {
        "pictures": [_levels(picture[0, in_raster], shape) for picture in pictures],
        "fine": _levels(fine[0], (2 * shape[0], 2 * shape[1], *shape[2:])),
    }


def twice_as_fine(shape: tuple[int, ...]) -> Tensor:
    """Points (4 n, d) of four pixels in the place of each."""
    axes = []
    for size, fineness in zip(shape, (2, 2, 1), strict=False):
        places = (np.arange(fineness * size) + 0.5) / fineness - 0.5
        axes.append(torch.from_numpy(position(places, size)))
    return torch.cartesian_prod(*axes)


def _levels(values: Tensor, shape: tuple[int, ...]) -> list[object]:
    """Whole numbers from 0 to 255 of values in [-0.5, 0.5], by row, pixel and channel."""
    levels = ((values.double() + 0.5) * LEVELS).clamp(0, LEVELS).round().int()
    return levels.cpu().view(*shape[:2], -1).tolist()
