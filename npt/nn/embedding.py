"""From cells to tokens: the embedding of columns, of image patches, and of whole images.

B tables, n rows, d columns, e width of a token, C_j length of column j's encoding.
P patches of p x p pixels in c channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Union

import torch
from torch import Tensor, nn

from npt.nn.column_layout import ColumnLayout, ImageLayout
from npt.nn.encoders.resnet import ResNet18
from npt.nn.encoders.siren import DROPOUT, PixelEncoder
from npt.nn.inputs import Encodings, ModelInput

Embedding = Union["ColumnEmbedding", "PatchEmbedding", "ImageEmbedding"]


def build_embedding(layout: ColumnLayout, width: int) -> Embedding:
    """The embedding of a table, with random weights."""
    if layout.images is None:
        return ColumnEmbedding(layout, width)
    if layout.images.is_encoded:
        return ImageEmbedding(layout.images, width)
    target = ColumnEmbedding(layout.only_target(), width)
    return PatchEmbedding(layout.images, target, width)


def build_encoder(images: ImageLayout) -> ResNet18 | PixelEncoder:
    """The encoder of pooled images, with random weights."""
    settings = images.settings
    image = images.image
    if settings.encoder == "resnet18":
        return ResNet18(image.channels)
    size = (image.height // settings.pooling, image.width // settings.pooling)
    return PixelEncoder(image.channels, size, settings.pixels)


class ColumnEmbedding(nn.Module):
    """One linear layer C_j + 1 -> e per column.

    All share one weight: for every column the rows of its classes, then that of its mask channel.
    """

    starts: Tensor
    masks: Tensor

    def __init__(self, layout: ColumnLayout, width: int) -> None:
        super().__init__()
        self.continuous = layout.continuous
        self.lengths = [size + 1 for size in layout.sizes]
        columns = len(self.lengths)
        rows = sum(self.lengths)
        self.weight = nn.Parameter(torch.empty(rows, width))
        self.bias = nn.Parameter(torch.empty(columns, width))
        weights = self.weight.data.split(self.lengths)
        for weight, bias in zip(weights, self.bias.data, strict=True):
            length = len(weight)
            bound = 1 / math.sqrt(length)
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)
        ends = torch.tensor(self.lengths).cumsum(0)  # (d,)
        starts = ends - torch.tensor(self.lengths)  # (d,)
        self.register_buffer("starts", starts, persistent=False)
        self.register_buffer("masks", ends - 1, persistent=False)

    def forward(self, inputs: ModelInput) -> Tensor:
        """Embed every cell: (B, n, d) to (B, n, d, e)."""
        indices = inputs.codes + self.starts  # (B, n, d)
        rows = nn.functional.embedding(indices, self.weight)  # (B, n, d, e)
        visible = rows * inputs.scale[..., None]  # (B, n, d, e)
        hidden = self.weight[self.masks] * inputs.mask[..., None]  # (B, n, d, e)
        return visible + hidden + self.bias  # (B, n, d, e)

    @torch.no_grad()
    def largest_changes(self, changes: Sequence[float]) -> Tensor:
        """Largest change (d, e) of every element of a row's tokens.

        Args:
            changes: Largest change (d,) of a visible cell of each column: of a number, or 1 for
                another class.
        """
        slopes = []
        for weight, is_continuous in zip(
            self.weight.split(self.lengths), self.continuous, strict=True
        ):
            values = weight[:-1]  # without the mask channel
            slopes.append(values[0].abs() if is_continuous else values.amax(0) - values.amin(0))
        joined = torch.stack(slopes)  # (d, e)
        return torch.tensor(changes).to(joined)[:, None] * joined

    def segments(self) -> dict[nn.Parameter, list[int]]:
        """Row counts of the columns in the fused parameters."""
        return {self.weight: self.lengths, self.bias: [1] * len(self.lengths)}


class PatchEmbedding(nn.Module):
    """Values and mask channels of a patch through one matrix, which all patches share.

    The target is embedded as any other column.
    """

    columns: Tensor

    def __init__(
        self,
        images: ImageLayout,
        target: ColumnEmbedding,
        width: int,
    ) -> None:
        super().__init__()
        self.images = images
        self.target = target
        channels = 2 * images.image.channels
        self.weight = nn.Parameter(torch.empty(images.pixels, channels, width))
        nn.init.xavier_uniform_(self.weight)
        self.register_buffer("columns", images.columns(), persistent=False)

    def forward(self, inputs: ModelInput) -> Tensor:
        """Embed every patch and the target: (B, n, d) to (B, n, P + 1, e)."""
        values = inputs.scale[..., self.columns]  # (B, n, P, p * p, c)
        masks = inputs.mask[..., self.columns]  # (B, n, P, p * p, c)
        channels = torch.cat([values, masks], -1)  # (B, n, P, p * p, 2 c)
        tokens = channels.flatten(-2) @ self.weight.flatten(0, 1)  # (B, n, P, e)
        target = inputs.map(lambda x: x[..., [self.images.target]])  # (B, n, 1)
        return torch.cat([tokens, self.target(target)], -2)  # (B, n, P + 1, e)


class ImageEmbedding(nn.Module):
    """An encoder's vector of every image, through a linear layer: one token.

    With the encoder `siren`, this layer and what follows are the first half of the thesis' head.
    """

    columns: Tensor

    def __init__(self, images: ImageLayout, width: int) -> None:
        super().__init__()
        self.images = images
        self.encoder = build_encoder(images)
        self.linear = nn.Linear(self.encoder.width, width)
        self.activation: nn.Module = nn.Identity()
        if images.settings.encoder == "siren":
            self.activation = nn.Sequential(nn.LayerNorm(width), nn.ReLU(), nn.Dropout(DROPOUT))
        self.register_buffer("columns", images.columns(), persistent=False)

    def forward(self, inputs: ModelInput) -> Tensor:
        """Tokens (B, n, 1, e) of images (B, n, d), or of their encodings (B, n, e)."""
        if isinstance(inputs, Encodings):
            return inputs.scale[:, :, None]
        return self.encode(inputs)[:, :, None]

    def encode(self, inputs: ModelInput) -> Tensor:
        """Vectors (B, n, e) of images (B, n, d)."""
        image = self.images.image
        values = inputs.scale[..., self.columns]  # (B, n, c * h * w)
        pixels = values.unflatten(-1, (image.channels, image.height, image.width))
        flat = pixels.flatten(0, 1)  # (B * n, c, h, w)
        if self.images.settings.pooling > 1:
            flat = nn.functional.avg_pool2d(flat, self.images.settings.pooling)
        vectors = self.encoder(flat).to(self.linear.weight.dtype)  # (B * n, width)
        encodings = self.activation(self.linear(vectors))  # (B * n, e)
        return encodings.view(*values.shape[:2], -1)  # (B, n, e)

    @torch.no_grad()
    def set_statistics(self, inputs: ModelInput) -> None:
        """Give batch normalisation, where there is any, the statistics of images (B, n, d)."""
        layers = [layer for layer in self.encoder.modules() if isinstance(layer, nn.BatchNorm2d)]
        if not layers:
            return
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # an average of all batches, of which there is one
            layer.train()
        self.encode(inputs)
        self.eval()
