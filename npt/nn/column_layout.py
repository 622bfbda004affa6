"""What a network is built for: sizes and types of the columns, and their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from npt.errors import UserError
from npt.nn.image_layout import ImageLayout
from npt.nn.settings import NPTSettings
from npt.table import Table


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
