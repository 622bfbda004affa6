"""Attention kernels behind one signature: (queries, keys, values, scale, dropout) to outputs, all (..., heads, s, M / k)."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def dot_product(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, *, scale: float, dropout: float = 0.0
) -> torch.Tensor:
    """softmax(Q K^T * scale) V (paper eq. 1), dropout on the probabilities.

    `scale` has no default: NPT divides by the root of the block's full width, not of a head's (paper Appendix C.1).
    """
    return F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, scale=scale)
