"""The implementations of NPT that are compared, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import torch

from npt.nn.device import prepare_blocks
from npt.nn.losses import tradeoff
from npt.nn.optimiser import learning_rate
from npt.nn.reference import PlainLamb, PlainNPT, plain_evaluation, plain_update
from npt.nn.training import build_model, build_optimiser, label_scores, update
from performance.shapes import Shape, generated

REFERENCE = "reference, float32"


@dataclass
class Implementation:
    """One implementation at one shape.

    Attributes:
        step: The next update.
        evaluate: An evaluation as after an update; returns the validation loss.
        steps: Measured seconds of the steps.
        evaluations: Measured seconds of the evaluations.
        rates: Operations per second of a matrix product, measured around each step.
    """

    name: str
    precision: str
    step: Callable[[], Any]
    evaluate: Callable[[], float]
    steps: list[float] = field(default_factory=list)
    evaluations: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


def ours(
    shape: Shape,
    name: str,
    device: torch.device,
) -> Implementation:
    """This project's NPT.

    Args:
        name: A precision.
    """
    settings = shape.settings.changed(
        precision=name,
        recompute_activations="never",
        batch_rows=None,
    )
    data, _ = generated(shape, device)
    model = build_model(shape.layout, settings, 0, device)
    optimiser = build_optimiser(model, settings)
    prepare_blocks(model, shape.rows, settings, device)
    numbers = count(1)

    def step() -> None:
        update(model, optimiser, data, next(numbers), settings, 0)

    def evaluate() -> float:
        return label_scores(model, data, "validation", settings, 0).loss

    return Implementation(f"npt, {name}", name, step, evaluate)


def reference(shape: Shape, device: torch.device) -> Implementation:
    """The plain implementation."""
    settings = shape.settings
    _, table = generated(shape, device)
    torch.manual_seed(0)
    model = PlainNPT(shape.layout.sizes, shape.layout.continuous, settings).to(device)
    optimiser = PlainLamb(model, settings)
    numbers = count(1)

    def step() -> None:
        number = next(numbers)
        weight = tradeoff(number, settings)
        rate = learning_rate(number, settings)
        plain_update(model, optimiser, table, settings, weight, rate)

    def evaluate() -> float:
        return plain_evaluation(model, table, settings)

    return Implementation(REFERENCE, "float32", step, evaluate)


def by_name(
    name: str,
    shape: Shape,
    device: torch.device,
) -> Implementation:
    """The implementation with the name of an earlier one."""
    if name == REFERENCE:
        return reference(shape, device)
    return ours(shape, name.removeprefix("npt, "), device)
