"""From cells to tokens: the embedding of columns, and of image patches.

B tables, n rows, d columns, e width of a token, C_j length of column j's encoding.
P patches of p x p pixels in c channels.
"""

from __future__ import annotations

import math
from itertools import accumulate

import torch
from torch import Tensor, nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.patches import Patches


def build_embedding(layout: ColumnLayout, width: int) -> ColumnEmbedding | PatchEmbedding:
    """The embedding of a table, with random weights."""
    if layout.patches is None:
        return ColumnEmbedding(layout, width)
    target = ColumnEmbedding(layout.only_target(), width)
    return PatchEmbedding(layout.patches, target, width)


class ColumnEmbedding(nn.Module):
    """One linear layer C_j + 1 -> e per column.

    All share one weight: for every column the rows of its classes, then that of its mask channel.
    """

    starts: Tensor
    masks: Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__()
        self.lengths = [size + 1 for size in layout.sizes]
        self.weight = nn.Parameter(torch.empty(sum(self.lengths), width))
        self.bias = nn.Parameter(torch.empty(len(self.lengths), width))
        weights = self.weight.data.split(self.lengths)
        for weight, bias in zip(weights, self.bias.data, strict=True):
            bound = 1 / math.sqrt(len(weight))
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)
        starts = accumulate(self.lengths[:-1], initial=0)
        last = accumulate(self.lengths)
        self.register_buffer("starts", torch.tensor(list(starts)), persistent=False)
        self.register_buffer("masks", torch.tensor(list(last)) - 1, persistent=False)

    def forward(self, inputs: ModelInput) -> Tensor:
        """Embed every cell: (B, n, d) to (B, n, d, e)."""
        indices = inputs.codes + self.starts  # (B, n, d)
        scale = inputs.scale[..., None]  # (B, n, d, 1)
        mask = inputs.mask[..., None]  # (B, n, d, 1)
        visible = nn.functional.embedding(indices, self.weight) * scale  # (B, n, d, e)
        return visible + self.weight[self.masks] * mask + self.bias  # (B, n, d, e)

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Row counts of the columns in the fused parameters."""
        columns = len(self.lengths)
        return {
            self.weight: self.lengths,
            self.bias: [1] * columns,
        }


class PatchEmbedding(nn.Module):
    """Values and mask channels of a patch through one matrix, which all patches share.

    The target is embedded as any other column.
    """

    columns: Tensor

    def __init__(
        self,
        patches: Patches,
        target: ColumnEmbedding,
        width: int,
    ) -> None:
        super().__init__()
        self.patches = patches
        self.target = target
        channels = 2 * patches.image.channels
        self.weight = nn.Parameter(torch.empty(patches.pixels, channels, width))
        nn.init.xavier_uniform_(self.weight)
        self.register_buffer("columns", patches.columns(), persistent=False)

    def forward(self, inputs: ModelInput) -> Tensor:
        """Embed every patch and the target: (B, n, d) to (B, n, P + 1, e)."""
        values = inputs.scale[..., self.columns]  # (B, n, P, p * p, c)
        masks = inputs.mask[..., self.columns]  # (B, n, P, p * p, c)
        channels = torch.cat([values, masks], -1)  # (B, n, P, p * p, 2 c)
        tokens = channels.flatten(-2) @ self.weight.flatten(0, 1)  # (B, n, P, e)
        target = inputs.column(self.patches.target)  # (B, n, 1)
        return torch.cat([tokens, self.target(target)], -2)  # (B, n, P + 1, e)

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """No parameter is fused of several."""
        return {}
