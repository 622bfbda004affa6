"""Attention between pixels with relative positions (Alfons 2022, thesis).

    A_ij = q_i k_j + q_i P_ij + u k_j + v P_ij,   P_ij the embedding of j - i

n images of N pixels in C channels, width E of a pixel, H heads of width c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from npt.nn.encoders.positions import PixelSpan, Sinusoids, Siren, relative_index
from npt.nn.encoders.tiles import Tiles
from npt.nn.kernels.attention import by_head
from npt.nn.settings import PixelSettings

PIXEL_WIDTH = 64  # of a pixel's token
PIXEL_HEADS = 8
PIXEL_LAYERS = 6
PIXEL_FEED_FORWARD = 128
DROPOUT = 0.1


class PixelEncoder(nn.Module):
    """Images (n, C, h, w) to vectors (n, 64): that of the last pixel, or the mean over all.

    Args:
        channels: C.
        size: Height and width of an image.
        settings: Positions of the pixels, the span, and the pooling.
    """

    width = PIXEL_WIDTH

    def __init__(
        self,
        channels: int,
        size: tuple[int, int],
        settings: PixelSettings,
    ) -> None:
        super().__init__()
        height, width = size
        sizes = (height, width) if settings.dimensions == 2 else (height * width,)
        self.pool = settings.pool
        self.drop = nn.Dropout(DROPOUT)
        self.embed = nn.Linear(channels, PIXEL_WIDTH)
        self.blocks = nn.ModuleList(PixelBlock(sizes, settings) for _ in range(PIXEL_LAYERS))

    def forward(self, images: Tensor) -> Tensor:
        """Vectors (n, 64)."""
        pixels = images.flatten(2).transpose(1, 2)  # (n, N, C)
        x = self.embed(self.drop(pixels))  # (n, N, E)
        for block in self.blocks:
            x = block(x)
        return x.mean(1) if self.pool == "mean" else x[:, -1]


class PixelBlock(nn.Module):
    """Attention between pixels and a feed-forward layer, each followed by LayerNorm."""

    index: Tensor

    def __init__(
        self,
        sizes: Sequence[int],
        settings: PixelSettings,
    ) -> None:
        super().__init__()
        embedding = Siren if settings.positions == "siren" else Sinusoids
        self.positions = embedding(sizes, PIXEL_WIDTH)
        self.span = PixelSpan(sizes, settings.threshold) if settings.span else None
        self.register_buffer("index", relative_index(sizes), persistent=False)
        self.query = _linear()
        self.key = _linear()
        self.value = _linear()
        self.output = _linear()
        heads = (PIXEL_HEADS, PIXEL_WIDTH // PIXEL_HEADS)
        self.key_bias = nn.Parameter(torch.zeros(heads))  # u
        self.position_bias = nn.Parameter(torch.zeros(heads))  # v
        self.widen = nn.Linear(PIXEL_WIDTH, PIXEL_FEED_FORWARD)
        self.narrow = nn.Linear(PIXEL_FEED_FORWARD, PIXEL_WIDTH)
        self.norm_attention = nn.LayerNorm(PIXEL_WIDTH)
        self.norm_feed_forward = nn.LayerNorm(PIXEL_WIDTH)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor) -> Tensor:
        """(n, N, E) to the same shape."""
        x = self.norm_attention(x + self.drop(self.attend(x)))
        hidden = F.relu(self.drop(self.widen(x)))
        return self.norm_feed_forward(x + self.drop(self.narrow(hidden)))

    def attend(self, x: Tensor) -> Tensor:
        """Attention of every pixel to all that its span includes: (n, N, E)."""
        values = by_head(self.value(x), PIXEL_HEADS)  # (n, H, N, c)
        reach = self.span.reach() if self.span else None  # waits for the device
        tiles = self.tiles(reach)
        weights = self.scores(x, reach, tiles).softmax(-1)
        if tiles is None:
            attended = weights @ values  # (n, H, N, c)
        else:
            attended = tiles.joined(weights @ tiles.windows(values))  # (n, H, N, c)
        return self.output(attended.transpose(1, 2).flatten(2))  # (n, N, E)

    def tiles(self, reach: Tensor | None) -> Tiles | None:
        """Tiles of pixels with the windows that they attend to; None if that saves nothing."""
        if self.span is None or reach is None:
            return None
        tiles = Tiles(self.span.sizes, reach.tolist(), self.index.device)
        return tiles if tiles.save_work else None

    def scores(self, x: Tensor, reach: Tensor | None = None, tiles: Tiles | None = None) -> Tensor:
        """Scaled scores with the span: (n, H, N, N), or those of tiles (n, H, T, t, w)."""
        scale = 1 / math.sqrt(PIXEL_WIDTH // PIXEL_HEADS)
        queries = scale * by_head(self.query(x), PIXEL_HEADS)  # (n, H, N, c)
        keys = by_head(self.key(x), PIXEL_HEADS)
        to_keys = queries + scale * self.key_bias[:, None]
        to_positions = queries + scale * self.position_bias[:, None]
        index = self.index
        if tiles is not None:
            to_keys, to_positions = tiles.split(to_keys), tiles.split(to_positions)
            keys = tiles.windows(keys)
            index = tiles.index()
        embeddings = self.positions().unflatten(-1, (PIXEL_HEADS, -1))  # (R, H, c)
        relative = embeddings[index]  # P_ij (N, N, H, c), or (t, w, H, c)
        scores = to_keys @ keys.mT + torch.einsum("nh...ic,ijhc->nh...ij", to_positions, relative)
        if self.span is None:
            return scores
        assert reach is not None
        log_gaussian = self.span.log_gaussian()  # (R,)
        is_excluded = self.span.excluded(reach)
        bias = torch.zeros_like(log_gaussian).masked_fill(is_excluded, -math.inf)[index]
        if tiles is not None:
            bias = bias.masked_fill(tiles.outside(), -math.inf)  # (T, t, w)
        return torch.addcmul(bias, scores, log_gaussian.exp()[index])


def _linear() -> nn.Linear:
    layer = nn.Linear(PIXEL_WIDTH, PIXEL_WIDTH)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
