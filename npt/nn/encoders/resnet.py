"""ResNet-18 for small images (He et al. 2016; NPT paper Appendix B.8).

The stem is a 3 x 3 convolution without pooling, as usual for images of 32 x 32 pixels. n images of
c channels, h pixels high and w wide.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

RESNET_WIDTHS = (64, 128, 256, 512)  # channels of the four stages
RESNET_BLOCKS = 2  # of every stage


class ResNet18(nn.Module):
    """Images (n, c, h, w) to vectors (n, 512)."""

    width = RESNET_WIDTHS[-1]

    def __init__(self, channels: int) -> None:
        super().__init__()
        width = RESNET_WIDTHS[0]
        self.stem = _convolution(channels, width)
        blocks: list[nn.Module] = []
        for stage, wider in enumerate(RESNET_WIDTHS):
            for number in range(RESNET_BLOCKS):
                stride = 2 if stage and not number else 1
                blocks.append(ResidualBlock(width, wider, stride))
                width = wider
        self.blocks = nn.Sequential(*blocks)

    def forward(self, images: Tensor) -> Tensor:
        """Means over the pixels of the last stage's channels (n, 512)."""
        by_pixel = images.contiguous(memory_format=torch.channels_last)  # faster on the CPU
        x = F.relu(self.stem(by_pixel))  # (n, 64, h, w)
        x = self.blocks(x)  # (n, 512, h / 8, w / 8)
        return x.mean((2, 3))


class ResidualBlock(nn.Module):
    """Two convolutions and a shortcut, projected where its shape differs."""

    def __init__(
        self,
        width: int,
        wider: int,
        stride: int,
    ) -> None:
        super().__init__()
        self.first = _convolution(width, wider, stride=stride)
        self.second = _convolution(wider, wider)
        self.shortcut = nn.Identity()
        if stride > 1 or width != wider:
            self.shortcut = _convolution(width, wider, side=1, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        """(n, width, h, w) to (n, wider, h / stride, w / stride)."""
        hidden = F.relu(self.first(x))
        changed = self.second(hidden) + self.shortcut(x)
        return F.relu(changed)


def _convolution(
    width: int,
    wider: int,
    *,
    side: int = 3,
    stride: int = 1,
) -> nn.Sequential:
    """A convolution without a bias, and batch normalisation."""
    convolution = nn.Conv2d(
        width,
        wider,
        side,
        stride,
        padding=side // 2,
        bias=False,
    )
    normalisation = nn.BatchNorm2d(wider)
    return nn.Sequential(convolution, normalisation)
