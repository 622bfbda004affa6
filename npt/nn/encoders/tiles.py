"""Local attention between pixels: tiles of queries, each with a window of keys around it.

N pixels in T tiles of t pixels, whose windows have w pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

LONGEST = 5  # side of a tile


class Tiles:
    """Tiles of an image, or of a sequence of pixels.

    Attributes:
        save_work: Whether there are fewer scores than of all pairs, and more pixels than tiles.

    Args:
        sizes: Height and width, or the length of a sequence.
        reach: Farthest pixels in each dimension that are attended to.
    """

    def __init__(self, sizes: Sequence[int], reach: Sequence[int], device: torch.device) -> None:
        missing = [1] * (2 - len(sizes))
        self.sizes = (*missing, *sizes)
        self.reach = (*(0 for _ in missing), *reach)
        self.tile = list(map(_side, self.sizes))
        self.window = [t + 2 * r for t, r in zip(self.tile, self.reach, strict=True)]
        fewer_scores = math.prod(self.window) < math.prod(self.sizes)
        self.save_work = fewer_scores and math.prod(self.tile) > 1
        self.device = device

    def index(self) -> Tensor:
        """Index (t, w) of relative positions, as of `relative_index`."""
        index = torch.zeros(1, 1, dtype=torch.long, device=self.device)
        for size, t, w, r in zip(self.sizes, self.tile, self.window, self.reach, strict=True):
            offsets = torch.arange(w) - r - torch.arange(t)[:, None]
            places = offsets.clamp(1 - size, size - 1) + size - 1  # (t, w); beyond: `outside`
            pairs = index[:, None, :, None] * (2 * size - 1) + places.to(index)[None, :, None, :]
            index = pairs.flatten(2).flatten(0, 1)
        return index

    def outside(self) -> Tensor:
        """Which pixels of the windows (T, 1, w) are not in the image."""
        in_image = torch.ones(math.prod(self.sizes), 1, device=self.device)
        return self.windows(in_image).mT == 0

    def split(self, x: Tensor) -> Tensor:
        """Pixels (..., N, c) by tile: (..., T, t, c)."""
        return self._cut(x, self.tile)

    def windows(self, x: Tensor) -> Tensor:
        """Pixels (..., N, c) in the window of each tile, zeros beyond the image: (..., T, w, c)."""
        return self._cut(x, self.window, self.reach)

    def joined(self, x: Tensor) -> Tensor:
        """Pixels by tile (..., T, t, c) in the order of the image: (..., N, c)."""
        height, width = self.sizes
        t, s = self.tile
        grid = x.unflatten(-3, (height // t, width // s)).unflatten(-2, (t, s))
        return grid.transpose(-4, -3).flatten(-5, -2)  # rows of tiles to rows of pixels

    def _cut(self, x: Tensor, sides: Sequence[int], margin: Sequence[int] = (0, 0)) -> Tensor:
        """Overlapping parts of the image with these sides, one for each tile."""
        image = x.mT.unflatten(-1, self.sizes)  # (..., c, height, width)
        vertical, horizontal = margin
        image = F.pad(image, (horizontal, horizontal, vertical, vertical))
        for side, step in zip(sides, self.tile, strict=True):
            image = image.unfold(-2, side, step)
        parts = image.flatten(-2).flatten(-3, -2)  # (..., c, T, w)
        return parts.movedim(-3, -1)  # (..., T, w, c)


def _side(size: int) -> int:
    """The largest side of tiles that fill a dimension."""
    return max(side for side in range(1, LONGEST + 1) if size % side == 0)
