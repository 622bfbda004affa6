"""Experiments in one dimension, and the attention of a trained network beside its bound."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from npt.nn.block import TiedBlock
from npt.nn.lipschitz import Norm
from npt.nn.trained import TrainedNPT, query_batches
from workflow.studies.lipschitz.experiments import (
    Map,
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

DISTANCES = (1.0, 10.0, 100.0)  # of the second position from the first
INVERTED = 16  # positions in one dimension
ROWS = 8  # of the trained network's input
OUTPUTS = 64  # whose derivatives are taken
DIGITS = 3  # of errors


@dataclass(frozen=True)
class TrainedAttention:
    """Attention between datapoints of the first block, without biases, LayerNorm and scaling down.

    Attributes:
        block: A copy of the block in double precision.
        rows: Rows of the batch.
        inputs: Inputs (r, M) of some of them.
    """

    block: TiedBlock
    rows: int
    inputs: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, query: ProbeQuery) -> TrainedAttention:
        """That of the probed model."""
        model = cast(TrainedNPT, query.model)
        block = deepcopy(model.model.blocks[0]).double().requires_grad_(False)
        assert isinstance(block, TiedBlock)
        block.norm_attention = nn.Identity()
        block.contraction = None
        block.value.bias.zero_()
        block.mix.bias.zero_()
        batch = next(query_batches(model, query.rows))
        embedded = model.model.embed(batch.inputs)  # (1, n, d, e)
        inputs = embedded[0, :ROWS].flatten(1)  # (r, M)
        rows, _ = batch.shape
        return cls(block, rows, inputs.double())

    def __call__(self, x: Tensor) -> Tensor:
        """Attention of rows (r, M), with its output layer."""
        queries, keys, values, _ = self.block.project(x[None])
        attended = self.block.attend(queries, keys, values)
        return self.block.mix(attended)[0]

    def bound(self, positions: int, norm: Norm = "maximum") -> float:
        """Bound of its Lipschitz constant."""
        with torch.no_grad():
            return float(self.block.bound(positions, norm))


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Tightness, derivatives, inversions, and bounds of the trained attention."""
    trained = TrainedAttention.of(query)
    facts: Facts = {
        "tightness": _tightness(query.options, query.seed),
        "derivatives": {
            "t": list(DISTANCES),
            "product": [derivative_at_zero(by_product, t) for t in DISTANCES],
            "distance_norm": [maximum_norm(by_distance, t) for t in DISTANCES],
        },
        "trained": _of_trained(trained, query.seed),
        "inversions": {"maps": _inversions(trained, query)},
    }
    return facts, {}


def _tightness(options: Any, seed: int) -> Facts:
    """Bound and largest norm in one dimension."""
    bounds: list[float] = []
    largest: list[float] = []
    for positions in options.positions:
        found = largest_norm(
            positions,
            options.restarts,
            options.steps,
            seed,
        )
        bounds.append(bound(positions))
        largest.append(found)
    return {
        "positions": options.positions,
        "bound": bounds,
        "largest": largest,
    }


def _of_trained(trained: TrainedAttention, seed: int) -> Facts:
    """Bounds of the trained attention, and its Jacobian at some rows.

    Of the Jacobian's rows some are taken, those of the first position.
    """
    rows, width = trained.inputs.shape
    generator = np.random.default_rng(seed)
    outputs = generator.permutation(width)[:OUTPUTS]
    x = trained.inputs.clone().requires_grad_()
    first = trained(x)[0]
    largest = 0.0
    for output in outputs.tolist():
        (gradient,) = torch.autograd.grad(
            first[output],
            x,
            retain_graph=True,
        )
        row_sum = float(gradient.abs().sum())
        largest = max(largest, row_sum)
    return {
        "rows": trained.rows,
        "bound": trained.bound(trained.rows),
        "bound_euclidean": trained.bound(trained.rows, "euclidean"),
        "bound_of_sample": trained.bound(rows),
        "found": largest,
    }


def _inversions(trained: TrainedAttention, query: ProbeQuery) -> list[Facts]:
    """Errors of fixed-point iteration, for each attention and factor."""
    x = inputs_of_large_derivatives(INVERTED, query.seed)
    constant = bound(INVERTED)
    trained_constant = trained.bound(len(trained.inputs))
    inversions = _inversions_of("L2", by_distance, constant, x, query.options)
    inversions += _inversions_of("dot product", by_product, constant, x, query.options)
    inversions += _inversions_of(
        "trained L2",
        trained,
        trained_constant,
        trained.inputs,
        query.options,
    )
    return inversions


def _inversions_of(
    name: str,
    attention: Map,
    constant: float,
    x: Tensor,
    options: Any,
) -> list[Facts]:
    """Errors of the inversion of x + c attention(x) / constant."""
    inversions: list[Facts] = []
    for contraction in options.contractions:
        factor = contraction / constant

        def residual(values: Tensor, factor: float = factor) -> Tensor:
            return factor * attention(values)

        errors = inversion_errors(residual, x, options.iterations)
        inversion = {
            "attention": name,
            "c": contraction,
            "iteration": list(range(len(errors))),
            "error": rounded(np.array(errors), DIGITS),
        }
        inversions.append(inversion)
    return inversions
