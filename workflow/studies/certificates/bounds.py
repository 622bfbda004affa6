"""Experiments in one dimension, and the attention of a trained network beside its bound."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from npt.nn.block import TiedBlock
from npt.nn.lipschitz import Norm
from npt.nn.trained import TrainedNPT, query_batches
from workflow.studies.certificates.line import (
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
    def from_query(cls, query: ProbeQuery) -> TrainedAttention:
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


def bounds(query: ProbeQuery) -> Facts:
    """Tightness, derivatives, inversions, and bounds of the trained attention."""
    options = query.options
    trained = TrainedAttention.from_query(query)
    constants = [bound(positions) for positions in options.positions]
    norms = [
        largest_norm(positions, options.restarts, options.line_steps, query.seed)
        for positions in options.positions
    ]
    x = inputs_of_large_derivatives(INVERTED, query.seed)
    inversions = []
    for name, attention, constant, inputs in (
        ("L2", by_distance, bound(INVERTED), x),
        ("dot product", by_product, bound(INVERTED), x),
        ("trained L2", trained, trained.bound(len(trained.inputs)), trained.inputs),
    ):
        for contraction in options.contractions:

            def residual(
                values: Tensor,
                attention: Map = attention,
                factor: float = contraction / constant,
            ) -> Tensor:
                return factor * attention(values)

            errors = inversion_errors(residual, inputs, options.iterations)
            inversions.append(
                {
                    "attention": name,
                    "c": contraction,
                    "iteration": list(range(len(errors))),
                    "error": rounded(np.array(errors), DIGITS),
                }
            )
    return {
        "tightness": {"positions": options.positions, "bound": constants, "largest": norms},
        "derivatives": {
            "t": list(DISTANCES),
            "product": [derivative_at_zero(by_product, t) for t in DISTANCES],
            "distance_norm": [maximum_norm(by_distance, t) for t in DISTANCES],
        },
        "trained": _trained_bounds(trained, query.seed),
        "inversions": {"maps": inversions},
    }


def _trained_bounds(trained: TrainedAttention, seed: int) -> Facts:
    """Bounds of the trained attention, and its Jacobian at some rows.

    Of the Jacobian's rows some are taken, those of the first position.
    """
    rows, width = trained.inputs.shape
    outputs = np.random.default_rng(seed).permutation(width)[:OUTPUTS]
    x = trained.inputs.clone().requires_grad_()
    first = trained(x)[0]
    largest = 0.0
    for output in outputs.tolist():
        (gradient,) = torch.autograd.grad(first[output], x, retain_graph=True)
        largest = max(largest, float(gradient.abs().sum()))
    return {
        "rows": trained.rows,
        "bound": trained.bound(trained.rows),
        "bound_euclidean": trained.bound(trained.rows, "euclidean"),
        "bound_of_sample": trained.bound(rows),
        "found": largest,
    }
