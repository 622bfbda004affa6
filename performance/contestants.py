"""The implementations that are measured side by side, behind one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from npt.nn.device import prepare_blocks
from npt.nn.losses import tradeoff
from npt.nn.optimiser import learning_rate
from npt.nn.training import build_model, build_optimiser, label_scores, update
from performance.reference import PlainLamb, PlainNPT, plain_evaluation, plain_update
from performance.shapes import Shape, generated

REFERENCE = "reference, float32"


@dataclass
class Contestant:
    """One implementation at one configuration: its next update, its evaluation (the validation loss), and what they took."""

    name: str
    precision: str
    step: Callable[[], Any]
    evaluate: Callable[[], float]
    steps: list[float] = field(default_factory=list)
    evaluations: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


def ours(one: Shape, name: str, device: torch.device) -> Contestant:
    """This project's NPT; `name` is a precision, or one with `+compile`."""
    precision, _, compiled = name.partition("+")
    settings = one.settings.changed(
        precision=precision,
        compile=compiled == "compile",
        recompute_activations="never",
    )
    data, _ = generated(one, device)
    model = build_model(one.layout, settings, 0, device)
    optimiser = build_optimiser(model, settings)
    prepare_blocks(model, one.rows, settings, device)
    whole = settings.changed(batch_rows=None)
    count = iter(range(1, 10**9))
    return Contestant(
        f"npt, {name}", precision,
        lambda: update(model, optimiser, data, next(count), whole, 0),
        lambda: label_scores(model, data, "validation", whole, 0),
    )  # fmt: skip


def reference(one: Shape, device: torch.device) -> Contestant:
    """The plain implementation."""
    _, table = generated(one, device)
    torch.manual_seed(0)
    model = PlainNPT(one.layout.sizes, one.layout.continuous, one.settings).to(device)
    optimiser, count = PlainLamb(model, one.settings), iter(range(1, 10**9))

    def step() -> None:
        number = next(count)
        rate = learning_rate(number, one.settings)
        plain_update(model, optimiser, table, one.settings, tradeoff(number, one.settings), rate)

    return Contestant(
        REFERENCE, "float32", step, lambda: plain_evaluation(model, table, one.settings)
    )
