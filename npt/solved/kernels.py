"""Kernels of the heads: how near two rows are, before the system is solved.

n and m rows, d columns: p of numbers, then c of categories. A category is equal or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.autograd import Function
from torch.nn.functional import softplus

from npt.solved.cells import Cells

Parameters = Mapping[str, torch.Tensor]
ONE = 0.5413  # softplus of this is 1
FAINT = -1.0  # softplus of this is 0.31, the first relevance of a column in a product
MOST_RELEVANCE = 4.0  # sum of log(1 + w) of all columns of a product, at the start


def initial_parameters(heads: int, cells: Cells) -> dict[str, torch.Tensor]:
    """Zeros, at which all columns weigh alike: `relevance` (H, d), `rate` (H, p), `scale` (H,),
    `ridge` (H,)."""
    like: dict[str, Any] = {"dtype": cells.scores.dtype, "device": cells.scores.device}
    return {
        "relevance": torch.zeros(heads, cells.columns, **like),
        "rate": torch.zeros(heads, cells.scores.shape[1], **like),
        "scale": torch.zeros(heads, **like),
        "ridge": torch.zeros(heads, **like),
    }


def linear(of_head: Parameters, queries: Cells, keys: Cells) -> torch.Tensor:
    """Scalar products of weighted scores (n, m), divided by d."""
    weights, of_categories = _relevance(of_head, queries)
    products = (queries.scores * weights) @ (keys.scores * weights).T
    return (products + Matches.apply(of_categories, queries.codes, keys.codes)) / max(
        1, queries.columns
    )


def gauss(of_head: Parameters, queries: Cells, keys: Cells) -> torch.Tensor:
    """exp(-D / 2) (n, m) of the mean squared distance D of weighted scores."""
    return torch.exp(-0.5 * _distances(of_head, queries, keys, queries.scores, keys.scores))


def laplace(of_head: Parameters, queries: Cells, keys: Cells) -> torch.Tensor:
    """exp(-sqrt(D)) (n, m) of the mean squared distance D of weighted ranks."""
    distances = _distances(of_head, queries, keys, queries.ranks, keys.ranks)
    return torch.exp(-(distances + 1e-5).sqrt())  # the root has no slope at 0


def gauss_product(of_head: Parameters, queries: Cells, keys: Cells) -> torch.Tensor:
    """Product over columns of 1 + w k (n, m), k Gaussian in scores, divided by its largest."""
    return _product(of_head, queries, keys, "gauss")


def laplace_product(of_head: Parameters, queries: Cells, keys: Cells) -> torch.Tensor:
    """Product over columns of 1 + w k (n, m), k exponential in ranks, divided by its largest."""
    return _product(of_head, queries, keys, "laplace")


Kernel = Callable[[Parameters, Cells, Cells], torch.Tensor]
SUMS: tuple[Kernel, ...] = (linear, gauss, laplace)
PRODUCTS: tuple[Kernel, ...] = (gauss_product, laplace_product)


def _relevance(of_head: Parameters, cells: Cells) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights of numbers (p,), and squared weights of categories (c,); mean square 1 over all."""
    weights = softplus(of_head["relevance"] + ONE)
    weights = weights / weights.square().mean().sqrt()
    numbers = cells.scores.shape[1]
    return weights[:numbers], weights[numbers:].square()


def _distances(
    of_head: Parameters, queries: Cells, keys: Cells, from_: torch.Tensor, to: torch.Tensor
) -> torch.Tensor:
    """Mean weighted squared distances (n, m); two different categories are at distance 2."""
    weights, of_categories = _relevance(of_head, queries)
    from_ = from_ * weights
    to = to * weights
    lengths = from_.square().sum(1)[:, None] + to.square().sum(1)
    distances = (lengths - 2 * from_ @ to.T).clamp(min=0)
    differing = of_categories.sum() - Matches.apply(of_categories, queries.codes, keys.codes)
    return (distances + 2 * differing) / max(1, queries.columns) * of_head["scale"].exp()


def _product(of_head: Parameters, queries: Cells, keys: Cells, kind: str) -> torch.Tensor:
    faint = softplus(of_head["relevance"].new_tensor(FAINT))
    at_start = queries.columns * faint.log1p()
    weights = softplus(of_head["relevance"] + FAINT) * (MOST_RELEVANCE / at_start).clamp(max=1)
    rates = (0.5 * of_head["rate"] + of_head["scale"]).exp()
    return Product.apply(weights, rates, queries, keys, kind)


class Matches(Function):
    """Sum over categories of their weights (c,) where two rows are equal (n, m)."""

    @staticmethod
    def forward(
        ctx: Any, weights: torch.Tensor, queries: torch.Tensor, keys: torch.Tensor
    ) -> torch.Tensor:
        """Category after category, so that no (n, m, c) array is needed."""
        ctx.save_for_backward(queries, keys)
        total = weights.new_zeros(len(queries), len(keys))
        for column, weight in enumerate(weights.tolist()):
            total.add_(_equal(queries, keys, column, total.dtype), alpha=weight)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """Of the weights alone."""
        (gradient,) = gradients
        queries, keys = ctx.saved_tensors
        of_weights = gradient.new_empty(queries.shape[1])
        for column in range(len(of_weights)):
            equal = _equal(queries, keys, column, gradient.dtype)
            of_weights[column] = torch.vdot(equal.flatten(), gradient.flatten())
        return of_weights, None, None


class Product(Function):
    """prod over columns of (1 + w k) / (1 + w) (n, m), with weights w (d,) and rates (p,) of k.

    The columns' kernels are computed again in the backward pass, so that memory is that of a few
    (n, m) arrays for any number of columns.
    """

    @staticmethod
    def forward(
        ctx: Any, weights: torch.Tensor, rates: torch.Tensor, queries: Cells, keys: Cells, kind: str
    ) -> torch.Tensor:
        """Column after column."""
        product = weights.new_ones(len(queries.scores), len(keys.scores))
        for weight, near in zip(
            weights.tolist(), _nearness(rates, queries, keys, kind), strict=True
        ):
            product *= near.mul_(weight / (1 + weight)).add_(1 / (1 + weight))
        ctx.save_for_backward(weights, rates, product)
        ctx.rows = queries, keys, kind
        return product

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """d log product / dw = k / (1 + w k) - 1 / (1 + w); of a rate, through k."""
        (gradient,) = gradients
        weights, rates, product = ctx.saved_tensors
        queries, keys, kind = ctx.rows
        of_product = gradient * product
        total = of_product.sum()
        of_weights = torch.empty_like(weights)
        of_rates = torch.empty_like(rates)
        nearness = _nearness(rates, queries, keys, kind)
        for column, (weight, near) in enumerate(zip(weights.tolist(), nearness, strict=True)):
            share = of_product * near
            share /= near.mul_(weight).add_(1)
            of_weights[column] = share.sum() - total / (1 + weight)
            if column < len(rates):
                gaps = _gaps(queries, keys, column, kind)
                of_rates[column] = -weight * torch.vdot(share.flatten(), gaps.flatten())
        return of_weights, of_rates, None, None, None


def _nearness(
    rates: torch.Tensor, queries: Cells, keys: Cells, kind: str
) -> Iterator[torch.Tensor]:
    """Kernel (n, m) of every column: numbers, then categories."""
    for column, rate in enumerate(rates.tolist()):
        yield _gaps(queries, keys, column, kind).mul_(-rate).exp_()
    for column in range(queries.codes.shape[1]):
        yield _equal(queries.codes, keys.codes, column, rates.dtype)


def _gaps(queries: Cells, keys: Cells, column: int, kind: str) -> torch.Tensor:
    """Half the squared difference of scores, or the absolute difference of ranks (n, m)."""
    if kind == "gauss":
        gaps = queries.scores[:, column, None] - keys.scores[:, column]
        return gaps.square_().mul_(0.5)
    gaps = queries.ranks[:, column, None] - keys.ranks[:, column]
    return gaps.abs_()


def _equal(
    queries: torch.Tensor, keys: torch.Tensor, column: int, dtype: torch.dtype
) -> torch.Tensor:
    """1 where two rows have the same category (n, m), and 0 elsewhere."""
    return (queries[:, column, None] == keys[:, column]).to(dtype)
