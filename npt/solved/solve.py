"""Attention that is solved: ordinary kriging, with exact leave-one-out predictions.

m context rows with kernel K (m, m), ridge r and weights v; C targets. A query with kernel k (m,) to
them is predicted as a weighted sum of their targets, with the weights (m,) that solve

    [K + r / v  1] [weights]   [k]
    [    1'     0] [   t   ] = [1].

They sum to one, as attention does. For P, the upper left block of the inverse matrix, the
prediction of a context row without its own target is T_i - (P T)_i / P_ii (Rasmussen and Williams
2006, section 5.4.2; Dubrule 1983 with a mean that is estimated). A weight of v is v equal rows, of
which one is left out. That prediction, whose variance without noise is 1 / P_ii - r / v_i, is then
combined with the target of the others. With groups, a row is predicted without its group G: P_GG
replaces P_ii.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

SMALLEST = 1e-12
JITTERS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)  # in units of the mean of a matrix's diagonal


@dataclass(frozen=True)
class Solution:
    """A context's system, factored.

    Attributes:
        matrix: Kernel plus ridge (m, m).
        noise: Ridge over weights (m,).
        kept: Fractions (m,) of the weights that stay without one row: of a weight of 4, 3/4.
        groups: Codes (m,) of rows that are left out together, with all of their weight.
    """

    matrix: Tensor
    noise: Tensor
    kept: Tensor
    groups: Tensor | None = None

    @cached_property
    def triangle(self) -> Tensor:
        """Cholesky factor (m, m) of the matrix."""
        return factor(self.matrix)

    @cached_property
    def means(self) -> Tensor:
        """Weights (m,) that estimate the mean, which sum to one."""
        sums = self._solved(torch.ones_like(self.matrix[:, :1]))[:, 0]
        return sums / sums.sum()

    @cached_property
    def inverse(self) -> Tensor:
        """P (m, m)."""
        inverse = torch.cholesky_inverse(self.triangle)
        return inverse.addr(inverse.sum(1), self.means, alpha=-1)

    def coefficients(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Slopes (m, C) and intercept (C,): a query is predicted as k' slopes + intercept."""
        intercept = self.means @ targets
        return self._solved(targets - intercept), intercept

    @cached_property
    def precision(self) -> Tensor:
        """diag P (m,), above zero."""
        return self.inverse.diagonal().clamp(min=SMALLEST)

    @property
    def trust(self) -> Tensor:
        """Weight (m, 1) of what stays of a row's own target in its leave-one-out prediction."""
        signal = (1 / self.precision - self.noise).clamp(min=0) * self.kept
        return (signal / (signal + self.noise))[:, None]

    def residuals(self, targets: Tensor) -> Tensor:
        """Leave-one-out residuals (m, C): P T / diag P, less what stays."""
        if self.groups is not None:
            return targets - self.leave_one_out(targets)
        return (1 - self.trust) * (self.inverse @ targets) / self.precision[:, None]

    def weights(self, kernel: Tensor) -> Tensor:
        """Attention (n, m) of queries whose kernel to the context is (n, m)."""
        solved = self._solved(kernel.T).T
        return solved + (1 - solved.sum(1, keepdim=True)) * self.means

    @property
    def weight_map(self) -> tuple[Tensor, Tensor]:
        """P (m, m) and means (m,): the attention of a query is k' P + means."""
        return self.inverse, self.means

    def leave_one_out(self, targets: Tensor) -> Tensor:
        """Predictions (m, C) of the context rows, each without one of the rows that it is.

        The target of a row without equals is multiplied by zero: it cannot change a bit of them.
        With groups, each is predicted without its group.
        """
        if self.groups is not None:
            blocks = self.inverse * (self.groups[:, None] == self.groups)
            return torch.cholesky_solve((blocks - self.inverse) @ targets, factor(blocks))
        others = self.inverse - torch.diag(self.inverse.diagonal())
        predicted = -(others @ targets) / self.precision[:, None]
        return predicted + self.trust * (targets - predicted)

    def without(self, kernel: Tensor, weights: Tensor, targets: Tensor, left_out: Tensor) -> Tensor:
        """Predictions (n, C) of queries, each without context rows of its own.

        Args:
            kernel: (n, m).
            weights: Attention (n, m), as `weights` returns it.
            targets: (m, C).
            left_out: Indices (n, k) of context rows.
        """
        slopes, intercept = self.coefficients(targets)
        weights = weights.gather(1, left_out)
        blocks = self.inverse[left_out[:, :, None], left_out[:, None, :]]
        residuals = torch.linalg.solve(blocks, slopes[left_out])  # their joint residuals
        return kernel @ slopes + intercept - torch.einsum("nk,nkc->nc", weights, residuals)

    def _solved(self, right: Tensor) -> Tensor:
        """Kernel plus ridge, inverted, times columns (m, k)."""
        return torch.cholesky_solve(right, self.triangle)


def solve(kernel: Tensor, ridge: Tensor, weights: Tensor, groups: Tensor | None = None) -> Solution:
    """Solve the system of a context.

    Args:
        kernel: (m, m), positive semi-definite.
        ridge: A number.
        weights: (m,).
        groups: Codes (m,) of rows that are left out together.
    """
    noise = ridge / weights
    return Solution(larger(kernel, noise), noise, 1 - 1 / weights.clamp(min=1), groups)


def larger(matrix: Tensor, diagonal: Tensor | float) -> Tensor:
    """A matrix plus a number or a vector on its diagonal."""
    matrix = matrix.clone()
    matrix.diagonal().add_(diagonal)
    return matrix


def factor(matrix: Tensor) -> Tensor:
    """Cholesky factor; where rounding has made the matrix indefinite, of a slightly larger one.

    Raises:
        FloatingPointError: The matrix has entries that are not finite.
    """
    for jitter in (0.0, *JITTERS):
        enlarged = larger(matrix, jitter * matrix.diagonal().mean()) if jitter else matrix
        triangle, failed = torch.linalg.cholesky_ex(enlarged)
        if not failed:
            return triangle
    raise FloatingPointError("the kernel of the context is not finite")
