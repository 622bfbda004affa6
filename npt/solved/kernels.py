"""Kernels of the heads: how near two rows are, before the system is solved.

n and m rows, d columns: p of numbers, then c of categories. A category is equal or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import softplus

from npt.nn.distances import squared_distances
from npt.solved.cells import Cells

Parameters = Mapping[str, Tensor]
Kernel = Callable[[Parameters, Cells, Cells], Tensor]
ONE = 0.5413  # softplus of this is 1
FAINT = -1.0  # softplus of this is 0.31, the first relevance of a column in a product
MOST_RELEVANCE = 4.0  # about the largest sum of log(1 + w) over columns, at the start


def initial_parameters(heads: int, cells: Cells) -> dict[str, Tensor]:
    """Zeros, at which all columns weigh alike: `relevance` (H, d), `rate` (H, p), `scale` (H,),
    `ridge` (H,)."""
    zeros = cells.scores.new_zeros
    return {
        "relevance": zeros(heads, cells.columns),
        "rate": zeros(heads, cells.scores.shape[1]),
        "scale": zeros(heads),
        "ridge": zeros(heads),
    }


def linear(parameters: Parameters, queries: Cells, keys: Cells) -> Tensor:
    """Scalar products of weighted scores (n, m), divided by d."""
    weights, category_weights = _relevance(parameters, queries)
    products = (queries.scores * weights) @ (keys.scores * weights).T
    return (products + _matches(category_weights, queries, keys)) / max(1, queries.columns)


def gauss(parameters: Parameters, queries: Cells, keys: Cells) -> Tensor:
    """exp(-D / 2) (n, m) of the mean squared distance D of weighted scores."""
    return torch.exp(-0.5 * _distances(parameters, queries, keys, queries.scores, keys.scores))


def laplace(parameters: Parameters, queries: Cells, keys: Cells) -> Tensor:
    """exp(-sqrt(D)) (n, m) of the mean squared distance D of weighted ranks."""
    distances = _distances(parameters, queries, keys, queries.ranks, keys.ranks)
    return torch.exp(-(distances + 1e-5).sqrt())  # the root has no slope at 0


def _relevance(parameters: Parameters, cells: Cells) -> tuple[Tensor, Tensor]:
    """Weights of numbers (p,), and squared weights of categories (c,); mean square 1 over all."""
    weights = softplus(parameters["relevance"] + ONE)
    weights = weights / weights.square().mean().sqrt()
    numbers = cells.scores.shape[1]
    return weights[:numbers], weights[numbers:].square()


def _distances(
    parameters: Parameters, queries: Cells, keys: Cells, from_: Tensor, to: Tensor
) -> Tensor:
    """Mean weighted squared distances (n, m); two different categories are at distance 2."""
    weights, category_weights = _relevance(parameters, queries)
    distances = squared_distances(from_ * weights, to * weights)
    differing = category_weights.sum() - _matches(category_weights, queries, keys)
    return (distances + 2 * differing) / max(1, queries.columns) * parameters["scale"].exp()


def product(parameters: Parameters, queries: Cells, keys: Cells, kind: str) -> Tensor:
    """Product over columns of (1 + w k) / (1 + w) (n, m), with weights w (d,).

    Args:
        kind: k is Gaussian in scores (`gauss`), or exponential in ranks (`laplace`).
    """
    faint = softplus(parameters["relevance"].new_tensor(FAINT))
    at_start = queries.columns * faint.log1p()
    weights = softplus(parameters["relevance"] + FAINT) * (MOST_RELEVANCE / at_start).clamp(max=1)
    rates = (0.5 * parameters["rate"] + parameters["scale"]).exp()
    product = weights.new_ones(len(queries.scores), len(keys.scores))
    unit = weights.new_ones(())
    shares = weights / (1 + weights)
    for share, near in zip(shares, _nearness(rates, queries, keys, kind), strict=True):
        product = product * torch.lerp(unit, near, share)
    return product


def _nearness(rates: Tensor, queries: Cells, keys: Cells, kind: str) -> Iterator[Tensor]:
    """Kernel (n, m) of every column: numbers, then categories."""
    if kind == "gauss":
        scales = (0.5 * rates).sqrt()
        points = (queries.scores * scales, keys.scores * scales)
    else:
        points = (queries.ranks * rates, keys.ranks * rates)
    for query, key in zip(points[0].T, points[1].T, strict=True):
        gaps = query[:, None] - key
        distances = gaps.square() if kind == "gauss" else gaps.abs()
        yield (-distances).exp()
    for column in range(queries.codes.shape[1]):
        yield _equal(queries, keys, column)


def _matches(weights: Tensor, queries: Cells, keys: Cells) -> Tensor:
    """Sum over categories of their weights (c,) where two rows are equal (n, m)."""
    total = weights.new_zeros(len(queries.codes), len(keys.codes))
    for column, weight in enumerate(weights):  # so that no (n, m, c) array is needed
        total = total + weight * _equal(queries, keys, column)
    return total


def _equal(queries: Cells, keys: Cells, column: int) -> Tensor:
    """1 where two rows have the same category (n, m), and 0 elsewhere."""
    equal = queries.codes[:, column, None] == keys.codes[:, column]
    return equal.to(queries.scores.dtype)


SUMS: tuple[Kernel, ...] = (linear, gauss, laplace)
PRODUCTS: tuple[Kernel, ...] = (partial(product, kind="gauss"), partial(product, kind="laplace"))
