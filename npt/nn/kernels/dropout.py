"""Dropout on the CPU with masks that are reproducible from a key, at 16 random bits a number.

torch's own generator draws one number at a time there, at 6 ns each, which is a sixth of a training
step; these masks cost a tenth of that. A mask depends on its key, its site in the model and its
part alone, so that it can be drawn again.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from npt.nn.kernels import is_fast

RESOLUTION = 2**16
PIECE = 2**16  # words of 64 bits that one thread draws at a time


class DropoutMasks:
    """Random masks of one forward pass; `key` is set for each pass."""

    def __init__(self) -> None:
        self.key = 0

    def kept(
        self,
        shape: tuple[int, ...] | torch.Size,
        rate: float,
        site: int,
        part: int = 0,
        key: int | None = None,
    ) -> Tensor:
        """Int16 tensor: 1 where an element is kept, 0 where it is dropped.

        The rate is met to within 2^-17.

        Args:
            site: Layer that the mask is for.
            part: Part of the layer's activations, where they come in parts.
            key: Replaces the current key, to draw an earlier mask again.
        """
        count = math.prod(shape)
        if key is None:
            key = self.key
        words = np.empty(-(-count // 4), np.uint64)
        pieces = []
        for start in range(0, len(words), PIECE):
            pieces.append((words[start : start + PIECE], (key, site, part, start)))
        if len(pieces) > 1 and torch.get_num_threads() > 1:
            list(_threads(torch.get_num_threads()).map(_fill, pieces))
        else:
            for piece in pieces:
                _fill(piece)
        bits = torch.from_numpy(words.view(np.int16))[:count].view(shape)
        return bits.ge_(round(rate * RESOLUTION) - RESOLUTION // 2)


def keep_probability(rate: float) -> float:
    """The probability with which `DropoutMasks.kept` keeps an element."""
    return 1 - round(rate * RESOLUTION) / RESOLUTION


class Dropout(nn.Module):
    """Dropout of activations; on the CPU by `masks`, elsewhere by torch."""

    def __init__(
        self,
        rate: float,
        masks: DropoutMasks,
        site: int,
    ) -> None:
        super().__init__()
        self.rate = rate
        self.masks = masks
        self.site = site

    def forward(self, x: Tensor) -> Tensor:
        """`x` with elements zeroed and the others scaled up."""
        if not self.training or self.rate == 0:
            return x
        if not is_fast() or not x.is_cpu:
            return nn.functional.dropout(x, self.rate)
        return x * self._mask(x) * (1 / keep_probability(self.rate))

    def add(self, residual: Tensor, x: Tensor) -> Tensor:
        """residual + dropout(x), in one pass where that is possible."""
        drops = self.training and self.rate > 0
        if not drops or not is_fast() or not x.is_cpu or residual.dtype != x.dtype:
            return residual + self(x)
        return torch.addcmul(residual, x, self._mask(x), value=1 / keep_probability(self.rate))

    def _mask(self, x: Tensor) -> Tensor:
        return self.masks.kept(x.shape, self.rate, self.site).to(x.dtype)


def _fill(piece: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Fill words with bits that depend on their seed alone, in any thread."""
    words, seed = piece
    generator = np.random.SFC64(np.random.SeedSequence(seed))
    words[:] = generator.random_raw(len(words))


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count)


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads
