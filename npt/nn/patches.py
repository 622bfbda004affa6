"""Patches of an image, each a token of NPT (paper Appendix B.8).

P patches of p x p pixels in c channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.settings import NPTSettings, PatchShape
from npt.table import Image, Table


@dataclass(frozen=True)
class Patches:
    """How the features of a table of images fall into patches.

    Attributes:
        image: Layout of the features: channel by channel and row by row.
        side: Side p of a patch in pixels.
        shape: Squares; or strips, runs of as many features as a square has, as in the released
            code, whose reshaping lacks a transposition.
        target: Index of the target column.
    """

    image: Image
    side: int
    shape: PatchShape
    target: int

    @classmethod
    def from_table(cls, table: Table, settings: NPTSettings) -> Patches:
        """The patches of a table of images.

        Raises:
            UserError: the side does not divide the image's, or a feature is no intensity.
        """
        image = image_of(table, settings)
        return cls(image, settings.patch, settings.patch_shape, table.target)

    @property
    def count(self) -> int:
        """Number of patches, P."""
        return self.image.height * self.image.width // self.pixels

    @property
    def pixels(self) -> int:
        """Pixels of a patch, p * p."""
        return self.side**2

    @property
    def intensities(self) -> int:
        """Features of a patch, p * p * c."""
        return self.pixels * self.image.channels

    def features(self) -> Tensor:
        """Indices among the features (P, p * p, c) of every patch's intensities."""
        image, p = self.image, self.side
        indices = torch.arange(image.intensities)
        if self.shape == "strip":
            return indices.view(self.count, self.pixels, image.channels)
        # (c, rows of patches, p, columns of patches, p)
        grid = indices.view(image.channels, image.height // p, p, image.width // p, p)
        return grid.permute(1, 3, 2, 4, 0).reshape(self.count, self.pixels, image.channels)

    def columns(self) -> Tensor:
        """Indices among all columns (P, p * p, c) of every patch's intensities."""
        return columns_of(self.features(), self.target)


def columns_of(features: Tensor, target: int) -> Tensor:
    """Indices among all columns of features, which the target is not counted among."""
    return features + (features >= target)


def image_of(table: Table, settings: NPTSettings) -> Image:
    """Layout of the images of a table, which are cut into patches or pooled.

    Raises:
        UserError: the rows are no images, squares do not divide the image, or a feature is no
            intensity.
    """
    image = table.image
    if image is None:
        raise UserError(f"encoder: {settings.encoder} is for tables of images")
    key = "patch" if settings.encoder == "linear" else "pooling"
    side = getattr(settings, key)
    if image.height % side or image.width % side:
        raise UserError(
            f"{key}: {side} does not divide an image of {image.height} x {image.width} pixels"
        )
    kinds = [table.columns[j].kind for j in table.features]
    if kinds != ["continuous"] * image.intensities:
        raise UserError(
            f"images of {image.intensities} intensities are expected as continuous columns; "
            f"there are {kinds.count('continuous')} among {len(kinds)} features"
        )
    return image
