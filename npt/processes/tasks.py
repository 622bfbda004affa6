"""Tasks of regression between points: some with known values, all to be predicted.

B tables, n points of d inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tasks:
    """A batch of tables. The first `context` points of each are shown; targets are all n points.

    Attributes:
        x: Inputs (B, n, d).
        y: Values (B, n).
    """

    x: Tensor
    y: Tensor
    context: int

    @property
    def shown_x(self) -> Tensor:
        """Inputs (B, m, d) of the context."""
        return self.x[:, : self.context]

    @property
    def shown_y(self) -> Tensor:
        """Values (B, m) of the context."""
        return self.y[:, : self.context]

    def take(self, tables: slice) -> Tasks:
        """Some of the tables."""
        return Tasks(self.x[tables], self.y[tables], self.context)


def drawn_sizes(generator: torch.Generator, fewest: int, most: int) -> tuple[int, int]:
    """Numbers of context points and of all points, one draw for a batch.

    |C| is uniform on fewest .. most, and |T| = |C| + U{0 .. most - |C|}.
    """
    context = _drawn(fewest, most, generator)
    return context, context + _drawn(0, most - context, generator)


def _drawn(low: int, high: int, generator: torch.Generator) -> int:
    """A whole number from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=generator, device=generator.device))
