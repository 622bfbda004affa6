"""Patches of an image, each a token of NPT (paper Appendix B.8).

P patches of p x p pixels in c channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.settings import PatchShape
from npt.table import Column, Image


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
    def of(
        cls,
        image: Image,
        columns: Sequence[Column],
        target: int,
        side: int,
        shape: PatchShape,
    ) -> Patches:
        """The patches of a table of images.

        Raises:
            UserError: the side does not divide the image's, or a feature is no intensity.
        """
        if image.height % side or image.width % side:
            raise UserError(
                f"patch: {side} does not divide an image of {image.height} x {image.width} pixels"
            )
        require_intensities(image, columns, target)
        return cls(image, side, shape, target)

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


def require_intensities(image: Image, columns: Sequence[Column], target: int) -> None:
    """Refuse features that are not the intensities of an image.

    Raises:
        UserError: a feature is categorical, or their number is another.
    """
    features = [column for j, column in enumerate(columns) if j != target]
    expected = f"images of {image.intensities} intensities are expected as continuous columns"
    for column in features:
        if column.kind != "continuous":
            raise UserError(f"{expected}; {column.name!r} is categorical")
    if len(features) != image.intensities:
        raise UserError(f"{expected}; there are {len(features)} features")
