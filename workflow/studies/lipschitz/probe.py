"""Experiments in one dimension, and the attention of a trained network beside its bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import Tensor

from npt.nn.block import TiedBlock
from npt.nn.queries import query_batches
from npt.nn.trained import TrainedNPT
from workflow.studies.lipschitz.experiments import (
    bound,
    by_distance,
    by_product,
    derivative_at_zero,
    inputs_of_large_derivatives,
    inversion_errors,
    largest_norm,
    maximum_norm,
)
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

STEPS_FROM_ZERO = (1.0, 10.0, 100.0)  # distances of the second position from the first
INVERTED = 16  # positions in one dimension
ROWS = 8  # of the trained network's input
OUTPUTS = 64  # whose derivatives are taken
DIGITS = 3  # of errors


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Tightness, derivatives, inversions, and bounds of the trained attention."""
    model = cast(TrainedNPT, query.model)
    options = query.options
    largest = []
    bounds = []
    for positions in options.positions:
        bounds.append(bound(positions))
        largest.append(largest_norm(positions, options.restarts, options.steps, query.seed))
    facts: Facts = {
        "tightness": {"positions": options.positions, "bound": bounds, "largest": largest},
        "derivatives": {
            "t": list(STEPS_FROM_ZERO),
            "product": [derivative_at_zero(by_product, t) for t in STEPS_FROM_ZERO],
            "distance_norm": [maximum_norm(by_distance, t) for t in STEPS_FROM_ZERO],
        },
        "trained": _of_trained(model, query),
        "inversions": {"maps": _inversions(model, query)},
    }
    return facts, {}


def _inversions(model: TrainedNPT, query: ProbeQuery) -> list[Facts]:
    """Errors of fixed-point iteration, for each attention and factor."""
    options = query.options
    x = inputs_of_large_derivatives(INVERTED, query.seed)
    constant = bound(INVERTED)
    block, attention, inputs = _trained_attention(model, query)
    trained_constant = block.bound(len(inputs)).item()
    maps: dict[str, tuple[Callable[[Tensor], Tensor], float, Tensor]] = {
        "L2": (by_distance, constant, x),
        "dot product": (by_product, constant, x),
        "trained L2": (attention, trained_constant, inputs),
    }
    inversions: list[Facts] = []
    for name, (function, divisor, at) in maps.items():
        for contraction in options.contractions:
            factor = contraction / divisor
            errors = inversion_errors(
                lambda values, scaled=factor, of=function: scaled * of(values),
                at,
                options.iterations,
            )
            inversion = {
                "attention": name,
                "c": contraction,
                "iteration": list(range(len(errors))),
                "error": rounded(np.array(errors), DIGITS),
            }
            inversions.append(inversion)
    return inversions


def _of_trained(model: TrainedNPT, query: ProbeQuery) -> Facts:
    """Bounds of the first attention between datapoints, and its Jacobian at some rows.

    Of the Jacobian's rows some are taken, those of the first position.
    """
    block, attention, inputs = _trained_attention(model, query)
    width = inputs.shape[1]
    generator = np.random.default_rng(query.seed)
    outputs = generator.choice(width, min(OUTPUTS, width), replace=False)
    x = inputs.clone().requires_grad_()
    first = attention(x)[0]
    norms = []
    for output in outputs.tolist():
        (gradient,) = torch.autograd.grad(first[output], x, retain_graph=True)
        norms.append(gradient.abs().sum().item())
    rows, _ = next(query_batches(model, query.rows)).shape
    return {
        "rows": rows,
        "width": width,
        "bound": block.bound(rows).item(),
        "bound_euclidean": block.bound(rows, "euclidean").item(),
        "bound_of_sample": block.bound(len(inputs)).item(),
        "found": max(norms),
    }


def _trained_attention(
    model: TrainedNPT,
    query: ProbeQuery,
) -> tuple[TiedBlock, Callable[[Tensor], Tensor], Tensor]:
    """The first block between datapoints, its attention without a bias, and inputs (rows, M).

    In double precision, without LayerNorm, and before any scaling down.
    """
    network = model.model
    block = network.blocks[0]
    assert isinstance(block, TiedBlock)
    batch = next(query_batches(model, query.rows))
    with torch.no_grad():
        embedded = network.embed(batch.inputs)  # (1, n, d, e)
    inputs = embedded[0, :ROWS].flatten(1).double()
    weights = {name: value.detach().double() for name, value in block.named_parameters()}
    query_weight = weights["query.weight"].unflatten(0, (block.heads, -1))
    value_weight = weights["value.weight"].unflatten(0, (block.heads, -1))
    output_weight = weights["mix.weight"]

    def attention(x: Tensor) -> Tensor:
        projected = torch.einsum("nm,hcm->hnc", x, query_weight)
        differences = projected[:, :, None] - projected[:, None]  # (h, n, n, c)
        squares = differences.square().sum(-1)
        probabilities = (-block.scale * squares).softmax(-1)
        tied = block.scale * query_weight @ value_weight.transpose(1, 2)
        values = projected @ tied
        heads = probabilities @ values  # (h, n, c)
        return heads.transpose(0, 1).flatten(1) @ output_weight.T

    return block, attention, inputs
