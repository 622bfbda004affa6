"""Squared distances, and the radius of a Gaussian."""

import math

import torch
from torch import Tensor


def squared_distances(left: Tensor, right: Tensor) -> Tensor:
    """Squared distances (..., m, s) of (..., m, f) and (..., s, f)."""
    with torch.autocast(left.device.type, enabled=False):  # or equal rows would be far apart
        products = left @ right.mT
    left_squares = left.square().sum(-1)[..., :, None]
    right_squares = right.square().sum(-1)[..., None, :]
    return (left_squares + right_squares - 2 * products).clamp(min=0)


def radius_of(threshold: float) -> float:
    """Distance in sigmas at which a Gaussian with the maximum 1 has fallen to the threshold."""
    return math.sqrt(-2 * math.log(threshold))
