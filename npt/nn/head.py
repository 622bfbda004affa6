"""From tokens to predictions of every column; in float32 also where the blocks compute in bfloat16.

n rows, d columns, e width of a token, C_j length of column j's encoding, P patches of p x p pixels in c channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.patches import Patches


def build_head(layout: ColumnLayout, width: int) -> ColumnHead | PatchHead:
    """The head of a table, with random weights."""
    if layout.patches is None:
        return ColumnHead(layout, width)
    return PatchHead(layout, layout.patches, width)


class ColumnHead(nn.Module):
    """One linear layer e -> C_j per column, all in one weight.

    Categorical columns are decoded in groups of similar size, each padded to its largest: at most twice the classes, a handful
    of products for any number of columns, and shapes that no mask changes.
    """

    starts: torch.Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__()
        self.layout = layout
        bound = 1 / math.sqrt(width)
        classes = sum(layout.sizes)
        self.weight = nn.Parameter(torch.empty(classes, width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(classes).uniform_(-bound, bound))
        self.register_buffer("starts", torch.tensor(layout.starts), persistent=False)
        self.groups = nn.ModuleList(
            ClassGroup(layout, columns) for columns in _columns_by_size(layout)
        )

    def logits(self, tokens: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """For every group its columns (m,) and logits (m, n, C), from tokens (n, d, e); -inf beyond a column's classes."""
        for group in self.groups:
            assert isinstance(group, ClassGroup)
            yield group.columns, group(tokens, self.weight, self.bias)

    def numbers(self, tokens: torch.Tensor) -> torch.Tensor:
        """Standardised values (..., d) from tokens (..., d, e); meaningless for categorical columns."""
        tokens = tokens.to(self.weight.dtype)
        return (tokens * self.weight[self.starts]).sum(-1) + self.bias[self.starts]

    def target(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs (..., C of the target) from the target's tokens (..., e)."""
        start = self.layout.starts[self.layout.target]
        classes = slice(start, start + self.layout.target_size)
        with torch.autocast(tokens.device.type, enabled=False):
            tokens = tokens.to(self.weight.dtype)
            return nn.functional.linear(tokens, self.weight[classes], self.bias[classes])

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Row counts of the columns in the fused parameters."""
        sizes = list(self.layout.sizes)
        return {self.weight: sizes, self.bias: sizes}


class ClassGroup(nn.Module):
    """Categorical columns (m,) that are decoded together.

    Attributes:
        rows: Rows (m, C) of the head's weight for every class; a column with fewer than C classes repeats its last.
        padding: 0, or -inf for repeated classes (m, C).
    """

    columns: torch.Tensor
    rows: torch.Tensor
    padding: torch.Tensor

    def __init__(self, layout: ColumnLayout, columns: list[int]) -> None:
        super().__init__()
        sizes = torch.tensor([layout.sizes[j] for j in columns])[:, None]
        starts = torch.tensor([layout.starts[j] for j in columns])[:, None]
        classes = torch.arange(max(layout.sizes[j] for j in columns))[None]
        padding = torch.where(classes < sizes, 0.0, -math.inf)
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        self.register_buffer("rows", starts + classes.minimum(sizes - 1), persistent=False)
        self.register_buffer("padding", padding, persistent=False)

    def forward(
        self, tokens: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        """Logits (m, n, C) from the tokens (n, d, e) of all columns."""
        tokens = tokens[:, self.columns].transpose(0, 1).to(weight.dtype)  # (m, n, e)
        biases = bias[self.rows] + self.padding  # (m, C)
        weights = weight[self.rows].transpose(1, 2)  # (m, e, C)
        with torch.autocast(tokens.device.type, enabled=False):
            return torch.baddbmm(biases[:, None], tokens, weights)  # (m, n, C)


class PatchHead(nn.Module):
    """One linear layer from a patch's token to its intensities, shared by all patches, and one from the target's."""

    order: torch.Tensor

    def __init__(self, layout: ColumnLayout, patches: Patches, width: int) -> None:
        super().__init__()
        self.layout = layout
        self.patches = patches
        self.decode_patch = nn.Linear(width, patches.intensities)
        self.decode_target = nn.Linear(width, layout.target_size)
        columns = patches.columns().flatten()
        order = torch.zeros(len(columns) + 1, dtype=torch.long)  # for the target any intensity
        order[columns] = torch.arange(len(columns))
        self.register_buffer("order", order, persistent=False)

    @property
    def weight(self) -> torch.Tensor:
        """A parameter, for the type and the device of all."""
        return self.decode_target.weight

    def logits(self, tokens: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """No feature is categorical."""
        return iter(())

    def numbers(self, tokens: torch.Tensor) -> torch.Tensor:
        """Standardised values (..., d) from tokens (..., P + 1, e); meaningless for the target."""
        tokens = tokens[..., : self.patches.count, :].to(self.weight.dtype)  # (..., P, e)
        with torch.autocast(tokens.device.type, enabled=False):
            decoded = self.decode_patch(tokens)  # (..., P, p * p * c)
        return decoded.flatten(-2)[..., self.order]

    def target(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs (..., C of the target) from the target's tokens (..., e)."""
        with torch.autocast(tokens.device.type, enabled=False):
            return self.decode_target(tokens.to(self.weight.dtype))

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """No parameter is fused of several."""
        return {}


Head = ColumnHead | PatchHead


def _columns_by_size(layout: ColumnLayout) -> list[list[int]]:
    """Categorical feature columns, grouped by the power of two that bounds their classes."""
    groups: dict[int, list[int]] = {}
    for j, size in enumerate(layout.sizes):
        if j != layout.target and not layout.continuous[j]:
            groups.setdefault((size - 1).bit_length(), []).append(j)
    return [groups[bound] for bound in sorted(groups)]
