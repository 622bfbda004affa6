"""What a network is built for: sizes and types of the columns, and their tokens.

The tokens of images are patches (paper Appendix B.8), or one of each image. P patches of p x p
pixels in c channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.settings import NPTSettings
from npt.table import Image, Table


@dataclass(frozen=True)
class ColumnLayout:
    """Columns and tokens of a table.

    Attributes:
        sizes: Length C_j of every column's encoding.
        continuous: Which columns are continuous.
        target: Index of the target column.
        gaussian: Whether a Gaussian of the target is predicted, which is continuous.
        images: How images become tokens: the patches and the target, or one in all.
    """

    sizes: tuple[int, ...]
    continuous: tuple[bool, ...]
    target: int
    gaussian: bool = False
    images: ImageLayout | None = None

    @classmethod
    def from_table(cls, table: Table, settings: NPTSettings) -> ColumnLayout:
        """The layout of a table.

        Raises:
            UserError: the settings do not fit the table.
        """
        images = None
        if table.image or settings.encoder != "linear":
            images = ImageLayout.from_table(table, settings)
        if settings.augment and not (table.image and table.image.centre):
            raise UserError("augment: is for images with a centre and scale of their channels")
        is_gaussian = settings.output == "gaussian"
        if is_gaussian and table.task != "regression":
            raise UserError(f"output: gaussian is for regression, not {table.task}")
        return cls(
            sizes=tuple(column.size for column in table.columns),
            continuous=tuple(column.kind == "continuous" for column in table.columns),
            target=table.target,
            gaussian=is_gaussian,
            images=images,
        )

    @property
    def tokens(self) -> int:
        """Number of tokens of a row: one a column, or one a patch and last one of the target.

        One in all for an encoded image.
        """
        return self.images.patches + 1 if self.images else len(self.sizes)

    @property
    def target_token(self) -> int:
        """Index of the target's token."""
        return self.tokens - 1 if self.images else self.target

    @property
    def continuous_tokens(self) -> tuple[bool, ...]:
        """Which tokens are of continuous columns."""
        if self.images is None:
            return self.continuous
        return (*[True] * self.images.patches, self.continuous[self.target])

    @property
    def target_size(self) -> int:
        """Length C of the target's encoding."""
        return self.sizes[self.target]

    @property
    def starts(self) -> tuple[int, ...]:
        """Index of every column's first class, if all are numbered one after another."""
        return tuple(accumulate(self.sizes[:-1], initial=0))

    def only_target(self) -> ColumnLayout:
        """The layout of a table that has no other column."""
        return ColumnLayout((self.target_size,), (self.continuous[self.target],), 0)


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
