"""Which encoder makes one vector of an image, and of which columns."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from npt.nn.encoders.resnet import ResNet18
from npt.nn.encoders.siren import PixelEncoder, hidden_layer
from npt.nn.patches import columns_of, image_of
from npt.nn.settings import NPTSettings
from npt.table import Image, Table


@dataclass(frozen=True)
class EncodedImages:
    """The images of a table, each of which an encoder makes one vector of.

    Attributes:
        image: Layout of the features: channel by channel and row by row.
        target: Index of the target column.
        settings: Which encoder, and side of the squares over which pixels are averaged first.
    """

    image: Image
    target: int
    settings: NPTSettings

    @classmethod
    def from_table(cls, table: Table, settings: NPTSettings) -> EncodedImages:
        """The images of a table.

        Raises:
            UserError: the rows are no images, a feature is no intensity, or squares do not divide
                the image.
        """
        return cls(image_of(table, settings), table.target, settings)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width after pooling."""
        side = self.settings.pooling
        return self.image.height // side, self.image.width // side

    def columns(self) -> Tensor:
        """Indices among all columns of the intensities."""
        return columns_of(torch.arange(self.image.intensities), self.target)

    def build(self) -> ResNet18 | PixelEncoder:
        """The encoder with random weights."""
        channels = self.image.channels
        if self.settings.encoder == "resnet18":
            return ResNet18(channels)
        return PixelEncoder(channels, self.size, self.settings.pixels)

    def activation(self, width: int) -> nn.Module:
        """What follows the linear layer on the encoder's vectors."""
        return hidden_layer(width) if self.settings.encoder == "siren" else nn.Identity()
