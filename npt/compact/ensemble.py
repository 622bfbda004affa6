"""Weights of the members of an ensemble.

K members, n rows, C classes.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from npt.likelihood import negative_log_likelihoods
from npt.table import Task

PICKS = 15


def loss(
    task: Task,
    truth: np.ndarray,
    predicted: np.ndarray,
) -> float:
    """Mean squared error of values (n,), or negative log-likelihood of probabilities (n, C)."""
    return float(row_losses(task, truth, predicted).mean())


def row_losses(
    task: Task,
    truth: np.ndarray,
    predicted: np.ndarray,
) -> np.ndarray:
    """Squared error (n,) of values (n,), or negative log-likelihood of probabilities (n, C)."""
    if task == "regression":
        return (predicted - truth) ** 2
    return negative_log_likelihoods(truth, predicted)


def greedy_weights(
    task: Task,
    truth: np.ndarray,
    members: np.ndarray,
) -> np.ndarray:
    """Weights (K,) by greedy selection with replacement (Caruana et al. 2004).

    Args:
        truth: Classes or values (n,).
        members: Predictions of each member, (K, n) or (K, n, C).
    """
    counts = np.zeros(len(members))
    total = np.zeros_like(members[0])
    for picks in range(1, PICKS + 1):
        losses = [loss(task, truth, (total + values) / picks) for values in members]
        best = int(np.argmin(losses))
        counts[best] += 1
        total = total + members[best]
    return counts / PICKS


def kind_weights(
    task: Task,
    truth: np.ndarray,
    members: np.ndarray,
    kinds: int,
) -> np.ndarray:
    """Equal weights (K,) of the members of those kinds whose mean has the lowest loss.

    Member k is of the kind k modulo the number of kinds. Of equal losses, more kinds win.
    """
    kind_of = np.arange(len(members)) % kinds
    best = np.full(len(members), 1 / len(members))
    lowest = loss(task, truth, combined(members, best))
    for count in range(kinds - 1, 0, -1):
        for chosen in combinations(range(kinds), count):
            is_chosen = np.isin(kind_of, chosen)
            weights = is_chosen / is_chosen.sum()
            value = loss(task, truth, combined(members, weights))
            if value < lowest:
                best = weights
                lowest = value
    return best


def combined(members: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean of predictions (K, ...) of the members."""
    return np.tensordot(weights, members, 1)
