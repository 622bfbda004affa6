"""Which encoder makes one vector of an image, and of which columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from npt.errors import UserError
from npt.nn.encoders.resnet import ResNet18
from npt.nn.encoders.siren import PixelEncoder, hidden_layer
from npt.nn.patches import columns_of, require_intensities
from npt.nn.settings import EncoderKind, NPTSettings, PixelSettings
from npt.table import Column, Image


@dataclass(frozen=True)
class EncodedImages:
    """The images of a table, each of which an encoder makes one vector of.

    Attributes:
        image: Layout of the features: channel by channel and row by row.
        target: Index of the target column.
        kind: The encoder.
        pixels: Settings of the encoder `siren`.
        pooling: Side of the squares over which pixels are averaged first.
    """

    image: Image
    target: int
    kind: EncoderKind
    pixels: PixelSettings
    pooling: int

    @classmethod
    def of(
        cls,
        image: Image | None,
        columns: Sequence[Column],
        target: int,
        settings: NPTSettings,
    ) -> EncodedImages:
        """The images of a table.

        Raises:
            UserError: the rows are no images, a feature is no intensity, or squares do not divide
                the image.
        """
        if image is None:
            raise UserError(f"encoder: {settings.encoder} is for tables of images")
        require_intensities(image, columns, target)
        side = settings.pooling
        if image.height % side or image.width % side:
            raise UserError(
                f"pooling: {side} does not divide an image of {image.height} x {image.width} pixels"
            )
        return cls(image, target, settings.encoder, settings.pixels, side)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width after pooling."""
        return self.image.height // self.pooling, self.image.width // self.pooling

    def columns(self) -> Tensor:
        """Indices among all columns of the intensities."""
        return columns_of(torch.arange(self.image.intensities), self.target)

    def build(self) -> ResNet18 | PixelEncoder:
        """The encoder with random weights."""
        channels = self.image.channels
        if self.kind == "resnet18":
            return ResNet18(channels)
        return PixelEncoder(channels, self.size, self.pixels)

    def activation(self, width: int) -> nn.Module:
        """What follows the linear layer on the encoder's vectors."""
        return hidden_layer(width) if self.kind == "siren" else nn.Identity()
