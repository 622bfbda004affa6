"""From tokens to predictions of every column; in float32 also where the blocks use bfloat16.

n rows, d columns, e width of a token, C_j length of column j's encoding.
P patches of p x p pixels in c channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from npt.nn.column_layout import ColumnLayout, ImageLayout
from npt.nn.gaussian import Gaussians, floored


def build_head(layout: ColumnLayout, width: int) -> Head:
    """The head of a table, with random weights."""
    if layout.images is None:
        head: Head = ColumnHead(layout, width)
    elif layout.images.is_encoded:
        head = TargetHead(layout, width)
    else:
        head = PatchHead(layout, layout.images, width)
    if layout.gaussian:
        head.decode_deviation = nn.Linear(width, 1)
    return head


class Head(nn.Module):
    """Predictions of all columns; features are decoded where there are any.

    Attributes:
        decode_deviation: Layer of omega, if a Gaussian of the target is predicted.
    """

    def __init__(self, layout: ColumnLayout) -> None:
        super().__init__()
        self.layout = layout
        self.decode_deviation: nn.Linear | None = None

    def target_layer(self) -> tuple[Tensor, Tensor]:
        """Weight (C, e) and bias (C,) of the target's outputs."""
        raise NotImplementedError

    def logits(self, tokens: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Index and logits (n, C_j) of every categorical feature, from tokens (n, d, e)."""
        return iter(())

    def numbers(self, tokens: Tensor) -> Tensor:
        """Standardised values (..., d) from tokens (..., d, e), of continuous columns alone."""
        raise NotImplementedError

    def target(self, tokens: Tensor) -> Tensor:
        """Outputs (..., C of the target) from the target's tokens (..., e)."""
        return _linear(tokens, *self.target_layer())

    def gaussians(self, tokens: Tensor) -> Gaussians:
        """Gaussians (S, ...) of the standardised target, from its tokens (S, ..., e)."""
        layer = self.decode_deviation
        assert layer is not None, "output: gaussian"
        raw = _linear(tokens, layer.weight, layer.bias).squeeze(-1)
        return Gaussians(self.target(tokens)[..., 0], floored(raw))


class ColumnHead(Head):
    """One linear layer e -> C_j per column, all in one weight."""

    starts: Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__(layout)
        classes = sum(layout.sizes)
        bound = 1 / math.sqrt(width)
        self.weight = nn.Parameter(torch.empty(classes, width))
        self.bias = nn.Parameter(torch.empty(classes))
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)
        self.register_buffer("starts", torch.tensor(layout.starts), persistent=False)

    def logits(self, tokens: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Index and logits (n, C_j) of every categorical feature, from tokens (n, d, e)."""
        sizes = list(self.layout.sizes)
        parts = (tokens.unbind(1), self.weight.split(sizes), self.bias.split(sizes))
        for j, (column, weight, bias) in enumerate(zip(*parts, strict=True)):
            if j != self.layout.target and not self.layout.continuous[j]:
                yield j, _linear(column, weight, bias)

    def numbers(self, tokens: Tensor) -> Tensor:
        """Standardised values (..., d) from tokens (..., d, e), of continuous columns alone."""
        weight = self.weight[self.starts]  # (d, e)
        bias = self.bias[self.starts]  # (d,)
        products = tokens.to(weight.dtype) * weight  # (..., d, e)
        return products.sum(-1) + bias  # (..., d)

    def target_layer(self) -> tuple[Tensor, Tensor]:
        """Weight (C, e) and bias (C,) of the target's outputs."""
        start = self.layout.starts[self.layout.target]
        classes = slice(start, start + self.layout.target_size)
        return self.weight[classes], self.bias[classes]

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Row counts of the columns in the fused parameters."""
        sizes = list(self.layout.sizes)
        return {self.weight: sizes, self.bias: sizes}


class TargetHead(Head):
    """One linear layer from the token of an encoded image to its target."""

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__(layout)
        self.decode_target = nn.Linear(width, layout.target_size)

    def target_layer(self) -> tuple[Tensor, Tensor]:
        """Weight (C, e) and bias (C,) of the target's outputs."""
        return self.decode_target.weight, self.decode_target.bias


class PatchHead(TargetHead):
    """One linear layer from a patch's token to its intensities, and one from the target's token.

    All patches share the first.
    """

    order: Tensor

    def __init__(
        self,
        layout: ColumnLayout,
        images: ImageLayout,
        width: int,
    ) -> None:
        decode_patch = nn.Linear(
            width, images.pixels * images.image.channels
        )  # its weights are drawn first
        super().__init__(layout, width)
        self.images = images
        self.decode_patch = decode_patch
        columns = images.columns().flatten()
        order = torch.zeros(len(columns) + 1, dtype=torch.long)  # for the target any intensity
        order[columns] = torch.arange(len(columns))
        self.register_buffer("order", order, persistent=False)

    def numbers(self, tokens: Tensor) -> Tensor:
        """Standardised values (..., d) from tokens (..., P + 1, e), of the features alone."""
        tokens = tokens[..., : self.images.patches, :]  # (..., P, e)
        layer = self.decode_patch
        decoded = _linear(tokens, layer.weight, layer.bias)  # (..., P, p * p * c)
        return decoded.flatten(-2)[..., self.order]  # (..., d)


def _linear(tokens: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A linear layer in the precision of its weights, under autocast too."""
    with torch.autocast(tokens.device.type, enabled=False):
        return nn.functional.linear(tokens.to(weight.dtype), weight, bias)
