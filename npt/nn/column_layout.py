"""What of a table the network is built for: its columns' classes, and the tokens that they make."""

from __future__ import annotations

from dataclasses import dataclass

from npt.interface import UserError
from npt.nn.patches import Patches
from npt.nn.settings import NPTSettings
from npt.table import Table


@dataclass(frozen=True)
class ColumnLayout:
    """Where each column's classes lie in the fused embedding and head: sizes C_j, kinds and the target's position."""

    sizes: tuple[int, ...]
    continuous: tuple[bool, ...]
    target: int
    patches: Patches | None = None

    @classmethod
    def of(cls, table: Table, settings: NPTSettings) -> ColumnLayout:
        """The layout of a table's columns; images come in patches.

        Raises:
            UserError: the settings do not fit the table.
        """
        columns, target, patches = table.columns, table.target, None
        if table.image:
            patches = Patches.of(table.image, columns, target, settings.patch, settings.patch_shape)
        if settings.augment and not (table.image and table.image.centre):
            raise UserError("augment: is for images with a centre and scale of their channels")
        return cls(
            tuple(c.size for c in columns),
            tuple(c.kind == "continuous" for c in columns),
            target,
            patches,
        )

    @property
    def tokens(self) -> int:
        """Number of tokens of a row: one a column, or one a patch and one of the target, the last."""
        return self.patches.count + 1 if self.patches else len(self.sizes)

    @property
    def target_token(self) -> int:
        """Which token is the target's."""
        return self.tokens - 1 if self.patches else self.target

    @property
    def token_continuous(self) -> tuple[bool, ...]:
        """The kind of every token."""
        return (
            (*[True] * self.patches.count, self.continuous[self.target])
            if self.patches
            else self.continuous
        )

    @property
    def starts(self) -> tuple[int, ...]:
        """First class of every column in the fused head."""
        return tuple(sum(self.sizes[:j]) for j in range(len(self.sizes)))
