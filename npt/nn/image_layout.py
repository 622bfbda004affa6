"""Which tokens the images of a table become: patches (paper Appendix B.8), or one of each image.

P patches of p x p pixels in c channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.settings import NPTSettings
from npt.table import Image, Table


@dataclass(frozen=True)
class ImageLayout:
    """How the features of a table of images fall into tokens.

    Attributes:
        image: Layout of the features: channel by channel and row by row.
        target: Index of the target column.
        settings: Encoder of whole images; side p and shape of patches, which are squares, or
            strips of as many features, as in the released code, whose reshaping lacks a
            transposition.
    """

    image: Image
    target: int
    settings: NPTSettings

    @classmethod
    def from_table(cls, table: Table, settings: NPTSettings) -> ImageLayout:
        """The images of a table, which are cut into patches or pooled.

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
        return cls(image, table.target, settings)

    @property
    def is_encoded(self) -> bool:
        """Whether an encoder makes one vector of an image, which is also the target's token."""
        return self.settings.encoder != "linear"

    @property
    def patches(self) -> int:
        """Number of patches, P; 0 of encoded images."""
        return 0 if self.is_encoded else self.image.height * self.image.width // self.pixels

    @property
    def pixels(self) -> int:
        """Pixels of a patch, p * p."""
        return self.settings.patch**2

    def columns(self) -> Tensor:
        """Indices among all columns (P, p * p, c) of every patch's intensities.

        Of encoded images, of all intensities (c * h * w,).
        """
        image = self.image
        p = self.settings.patch
        shape = (self.patches, self.pixels, image.channels)
        features = torch.arange(image.intensities)
        if not self.is_encoded and self.settings.patch_shape == "strip":
            features = features.view(shape)
        elif not self.is_encoded:
            # (c, rows of patches, p, columns of patches, p)
            grid = features.view(image.channels, image.height // p, p, image.width // p, p)
            features = grid.permute(1, 3, 2, 4, 0).reshape(shape)
        return features + (features >= self.target)  # the target is not counted among features
