"""Solved attention over many rows: through landmarks, with exact leave-one-out predictions.

m context rows, M of them landmarks. The kernel K (m, m) becomes N L^-1 N' (Nyström; Williams and
Seeger 2001), for N (m, M) the rows' kernel to the landmarks and L (M, M) that among them. This is a
ridge regression on M features, for which time is m M^2 and memory m M.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from npt.solved.solve import SMALLEST, factor, larger


class Landmarks:
    """Features of the rows, such that their scalar products are the kernel.

    Attributes:
        features: (m, M), minus their weighted mean.
        weights: (m,) of the rows.
        groups: Rows (b,) of each group, if they are left out together.
    """

    def __init__(
        self,
        kernel: Tensor,
        among_landmarks: Tensor,
        weights: Tensor,
        groups: Tensor | None = None,
    ) -> None:
        """From the rows' kernel to the landmarks (m, M), and that among these (M, M).

        Args:
            groups: Codes (m,) of rows that are left out together.
        """
        self.groups = ()
        if groups is not None:
            self.groups = groups.argsort(stable=True).split(groups.bincount().tolist())
        self.root = factor(among_landmarks)
        self.weights = weights
        self.shares = weights / weights.sum()
        self.features = self.rooted(kernel)
        self.mean = self.shares @ self.features
        self.features -= self.mean
        self.moments = self.features.T @ (weights[:, None] * self.features)

    def solve(self, ridge: Tensor) -> LandmarkSolution:
        """Solve for a ridge."""
        return LandmarkSolution(self, factor(larger(self.moments, ridge)))

    def rooted(self, kernel: Tensor) -> Tensor:
        """Features (n, M), not centred, of rows whose kernel to the landmarks is (n, M)."""
        return torch.linalg.solve_triangular(self.root, kernel.T, upper=False).T


@dataclass(frozen=True)
class LandmarkSolution:
    """A ridge regression on the features; its methods are named as those of `Solution`.

    Attributes:
        factor: Cholesky factor (M, M) of moments plus ridge.
    """

    landmarks: Landmarks
    factor: Tensor

    def coefficients(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Slopes (M, C) and intercept (C,): a query is predicted as k' slopes + intercept."""
        landmarks = self.landmarks
        products = landmarks.features.T @ (landmarks.weights[:, None] * targets)
        coefficients = torch.cholesky_solve(products, self.factor)
        slopes = torch.linalg.solve_triangular(landmarks.root.T, coefficients, upper=True)
        return slopes, landmarks.shares @ targets - landmarks.mean @ coefficients

    def leave_one_out(self, targets: Tensor) -> Tensor:
        """Predictions (m, C) of the context rows, each without one of its rows, or its group."""
        landmarks = self.landmarks
        rooted = torch.linalg.solve_triangular(
            self.factor, landmarks.features.T, upper=False
        )  # (M, m)
        fitted = (
            rooted.T @ (rooted @ (landmarks.weights[:, None] * targets))
            + landmarks.shares @ targets
        )
        if landmarks.groups:
            return self._without_groups(rooted, fitted, targets)
        influence = landmarks.weights * rooted.square().sum(0) + landmarks.shares
        influence = influence / landmarks.weights.clamp(min=1)  # of one of the equal rows
        kept = (1 - influence).clamp(min=SMALLEST)[:, None]
        return (fitted - influence[:, None] * targets) / kept

    def weights(self, kernel: Tensor) -> Tensor:
        """Attention (n, m) of queries whose kernel to the landmarks is (n, M)."""
        return self._attention(self.landmarks.rooted(kernel) - self.landmarks.mean)

    @property
    def weight_map(self) -> tuple[Tensor, Tensor]:
        """Matrix (M, m) and vector (m,): the attention of a query is k' matrix + vector."""
        landmarks = self.landmarks
        solved = torch.cholesky_solve(landmarks.features.T, self.factor) * landmarks.weights
        matrix = torch.linalg.solve_triangular(landmarks.root.T, solved, upper=True)
        return matrix, landmarks.shares - landmarks.mean @ solved

    def without(self, kernel: Tensor, weights: Tensor, targets: Tensor, left_out: Tensor) -> Tensor:
        """Predictions (n, C) of queries, each without context rows (n, k) of its own."""
        landmarks = self.landmarks
        slopes, intercept = self.coefficients(targets)
        weights = weights.gather(1, left_out)
        count = left_out.shape[1]
        features = landmarks.features[left_out.flatten()]
        among = self._attention(features).unflatten(0, (-1, count))  # (n, k, m)
        among_left_out = among.gather(2, left_out[:, None, :].expand(-1, count, -1))
        fitted = among @ targets
        kept = torch.eye(count).to(among) - among_left_out
        corrections = torch.linalg.solve(kept, targets[left_out] - fitted)
        return kernel @ slopes + intercept - torch.einsum("nk,nkc->nc", weights, corrections)

    def _without_groups(self, rooted: Tensor, fitted: Tensor, targets: Tensor) -> Tensor:
        """Predictions (m, C), each without its group, from those with all rows.

        The influence of b rows on each other is Z' Z times their weights, for Z (M + 1, b).
        """
        weights = self.landmarks.weights
        of_mean = weights.sum().rsqrt().expand(1, len(weights))
        rooted = torch.cat([rooted, of_mean])
        predicted = torch.empty_like(fitted)
        for rows in self.landmarks.groups:
            z = rooted[:, rows]
            weighted = z * weights[rows]
            rest = fitted[rows] - z.T @ (weighted @ targets[rows])
            if len(rows) <= len(z):
                predicted[rows] = torch.linalg.solve(larger(-z.T @ weighted, 1.0), rest)
            else:  # the same by Woodbury's identity
                solved = torch.linalg.solve(larger(-weighted @ z.T, 1.0), weighted @ rest)
                predicted[rows] = rest + z.T @ solved
        return predicted

    def _attention(self, features: Tensor) -> Tensor:
        landmarks = self.landmarks
        products = torch.cholesky_solve(features.T, self.factor).T @ landmarks.features.T
        return landmarks.weights * products + landmarks.shares
