"""Random masks for dropout on the CPU, reproducible from a key and cheap: 16 random bits a number.

torch's own generator draws one number at a time there, at 6 ns each, which is a sixth of a training step; these masks cost a
tenth of that. A mask depends on its key, its site in the model and its part alone, so that it can be drawn again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

RESOLUTION = 2**16
PIECE = 2**16  # words of 64 bits that one thread draws at a time


Function = TypeVar("Function", bound=Callable)


_LEFT_OUT: list[Callable[[], None]] = []


def uncompiled(function: Function) -> Function:
    """Left as it is where torch.compile would trace into it, after `leave_out`: torch's compiler takes seconds to load."""
    called: dict[str, Callable] = {"as": function}

    @wraps(function)
    def through(*given: Any, **named: Any) -> Any:
        return called["as"](*given, **named)

    _LEFT_OUT.append(lambda: called.update({"as": torch.compiler.disable(function)}))
    return through  # type: ignore[return-value]


def leave_out() -> None:
    """Keep the compiler, which is going to be used, out of the functions that are `uncompiled`."""
    for prepare in _LEFT_OUT:
        prepare()


class Noise:
    """Keep-masks of one forward pass; `key` is set anew for each pass."""

    def __init__(self) -> None:
        self.key = 0

    @uncompiled
    def kept(
        self,
        shape: tuple[int, ...] | torch.Size,
        rate: float,
        site: int,
        part: int = 0,
        key: int | None = None,
    ) -> torch.Tensor:
        """Int16 tensor of 1 where an element is kept, 0 where it is dropped; `rate` is met to within 2^-17.

        `key` stands in for the current one, to draw an earlier mask again.
        """
        count, key = math.prod(shape), self.key if key is None else key
        words = np.empty(-(-count // 4), np.uint64)
        pieces = [
            (words[at : at + PIECE], (key, site, part, at)) for at in range(0, len(words), PIECE)
        ]
        if len(pieces) > 1 and torch.get_num_threads() > 1:
            list(_helpers(torch.get_num_threads()).map(_fill, pieces))
        else:
            for piece in pieces:
                _fill(piece)
        drawn = torch.from_numpy(words.view(np.int16))[:count].view(shape)
        return drawn.ge_(round(rate * RESOLUTION) - RESOLUTION // 2)


def _fill(piece: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Fill words with bits that depend on their seed alone, and not on who draws them."""
    words, seed = piece
    generator = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
    words[:] = generator.integers(0, 2**64 - 1, len(words), dtype=np.uint64, endpoint=True)


@cache
def _helpers(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


os.register_at_fork(after_in_child=_helpers.cache_clear)  # a child has none of its parent's threads


def share_kept(rate: float) -> float:
    """The probability with which `Noise.kept` keeps an element."""
    return 1 - round(rate * RESOLUTION) / RESOLUTION


class Dropout(nn.Module):
    """Dropout of whole activations; on the CPU its masks come from `noise`, elsewhere from torch."""

    def __init__(self, rate: float, noise: Noise, site: int) -> None:
        super().__init__()
        self.rate, self.noise, self.site = rate, noise, site

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`x` with elements zeroed and the others scaled up."""
        if not self.training or self.rate == 0:
            return x
        return (
            x * self._mask(x) * (1 / share_kept(self.rate))
            if x.is_cpu
            else nn.functional.dropout(x, self.rate)
        )

    def add(self, residual: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Residual + dropout(x), in one pass where that is possible."""
        if not self.training or self.rate == 0 or not x.is_cpu or residual.dtype != x.dtype:
            return residual + self(x)
        return torch.addcmul(residual, x, self._mask(x), value=1 / share_kept(self.rate))

    def _mask(self, x: torch.Tensor) -> torch.Tensor:
        return self.noise.kept(x.shape, self.rate, self.site).to(x.dtype)
