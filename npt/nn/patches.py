"""Images in NPT: a patch of pixels is a token, while masks and losses act on single intensities (paper Appendix B.8).

B tables side by side, n rows, d columns with the target, P patches of p x p pixels in c channels, e width of a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import nn

from npt.interface import UserError
from npt.nn.inputs import EncodedTable, ModelInput
from npt.table import Column, Image

Shape = Literal["square", "strip"]
PADDING = 4  # pixels around an image that is cropped


@dataclass(frozen=True)
class Patches:
    """An image's patches: the features of the table, channel by channel and row by row, in groups of p * p * c.

    With the shape `strip` patches are runs of as many features, as in the released code, whose reshaping lacks a transposition.
    """

    image: Image
    side: int
    shape: Shape
    target: int

    @classmethod
    def of(
        cls, image: Image, columns: Sequence[Column], target: int, side: int, shape: Shape
    ) -> Patches:
        """The patches of a table of images.

        Raises:
            UserError: the side does not divide the image's, or a feature is no intensity.
        """
        if image.height % side or image.width % side:
            raise UserError(
                f"patch: {side} does not divide an image of {image.height} x {image.width} pixels"
            )
        odd = [
            column.name
            for j, column in enumerate(columns)
            if j != target and column.kind != "continuous"
        ]
        if odd or len(columns) - 1 != image.intensities:
            found = (
                f"{odd[0]!r} is categorical" if odd else f"there are {len(columns) - 1} features"
            )
            raise UserError(
                f"images of {image.intensities} intensities are expected as so many continuous columns; {found}"
            )
        return cls(image, side, shape, target)

    @property
    def count(self) -> int:
        """Number of patches, P."""
        return self.image.height * self.image.width // self.side**2

    @property
    def pixels(self) -> int:
        """Pixels of a patch, p * p."""
        return self.side**2

    def columns(self) -> torch.Tensor:
        """Numbers of the columns (P, p * p, c) of every patch's intensities."""
        c, p = self.image.channels, self.side
        places = torch.arange(self.image.intensities)
        places = places + (places >= self.target)
        if self.shape == "strip":
            return places.view(self.count, self.pixels, c)
        grid = places.view(
            c, self.image.height // p, p, self.image.width // p, p
        )  # (c, rows of patches, p, columns of patches, p)
        return grid.permute(1, 3, 2, 4, 0).reshape(self.count, self.pixels, c)


class PatchEmbedding(nn.Module):
    """Values and mask channels of a patch through one matrix that all patches share; the target as any other column."""

    places: torch.Tensor

    def __init__(self, patches: Patches, target: nn.Module, width: int) -> None:
        super().__init__()
        self.patches, self.target = patches, target
        self.weight = nn.Parameter(torch.empty(patches.pixels, 2 * patches.image.channels, width))
        nn.init.xavier_uniform_(self.weight)
        self.register_buffer("places", patches.columns(), persistent=False)

    def forward(self, cells: ModelInput) -> torch.Tensor:
        """Embed every patch and the target: (B, n, d) to (B, n, P + 1, e)."""
        shown = torch.cat(
            [cells.scale[..., self.places], cells.mask[..., self.places]], -1
        )  # (B, n, P, p * p, 2 c)
        tokens = shown.flatten(-2) @ self.weight.flatten(0, 1)  # (B, n, P, e)
        t = slice(self.patches.target, self.patches.target + 1)
        target = self.target(
            ModelInput(cells.codes[..., t], cells.scale[..., t], cells.mask[..., t])
        )  # (B, n, 1, e)
        return torch.cat([tokens, target], -2)  # (B, n, P + 1, e)

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """No parameter is fused of several."""
        return {}


class PatchHead(nn.Module):
    """One linear layer from a patch's token to its intensities, shared by all patches, and one from the target's."""

    places: torch.Tensor

    def __init__(self, layout: Any, patches: Patches, width: int) -> None:
        super().__init__()
        self.layout, self.patches = layout, patches
        self.decode = nn.Linear(width, patches.pixels * patches.image.channels)
        self.own = nn.Linear(width, layout.sizes[patches.target])
        order = torch.zeros(patches.image.intensities + 1, dtype=torch.long)
        order[patches.columns().flatten()] = torch.arange(patches.image.intensities)
        self.register_buffer("places", order, persistent=False)

    @property
    def weight(self) -> torch.Tensor:
        """Of the target, in the type and on the device of all."""
        return self.own.weight

    def logits(self, tokens: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """No feature is categorical."""
        return iter(())

    def numbers(self, tokens: torch.Tensor) -> torch.Tensor:
        """Standardised values (..., d) of all columns from the tokens (..., P + 1, e); the target's means nothing."""
        with torch.autocast(tokens.device.type, enabled=False):
            decoded = self.decode(
                tokens[..., : self.patches.count, :].to(self.weight.dtype)
            )  # (..., P, p * p * c)
        return decoded.flatten(-2)[..., self.places]

    def segments(self) -> dict[nn.Parameter, torch.Tensor]:
        """No parameter is fused of several."""
        return {}

    def target(self, tokens: torch.Tensor) -> torch.Tensor:
        """Outputs (..., C of the target) from the target's tokens (..., e)."""
        with torch.autocast(tokens.device.type, enabled=False):
            return self.own(tokens.to(self.weight.dtype))


def augmented(batch: EncodedTable, patches: Patches, generator: torch.Generator) -> EncodedTable:
    """The batch with its train images cropped at random from black borders of four pixels, and half of them mirrored."""
    image, device = patches.image, batch.numbers.device
    n, c, h, w = len(batch.part), image.channels, image.height, image.width
    features = torch.arange(batch.numbers.shape[1], device=device) != batch.target
    images = batch.numbers[:, features].view(n, c, h, w)
    black = torch.tensor(
        [-centre / scale for centre, scale in zip(image.centre, image.scale, strict=True)],
        device=device,
    )
    framed = black[None, :, None, None].expand(n, c, h + 2 * PADDING, w + 2 * PADDING).clone()
    framed[..., PADDING : PADDING + h, PADDING : PADDING + w] = images
    down, right = torch.randint(0, 2 * PADDING + 1, (2, n, 1), generator=generator, device=device)
    mirrored = torch.rand((n, 1), generator=generator, device=device) < 0.5
    across = torch.arange(w, device=device).expand(n, -1)
    rows, columns = (
        down + torch.arange(h, device=device),
        right + torch.where(mirrored, w - 1 - across, across),
    )
    each, channel = (
        torch.arange(n, device=device)[:, None, None, None],
        torch.arange(c, device=device)[None, :, None, None],
    )
    cropped = framed[
        each, channel, rows[:, None, :, None], columns[:, None, None, :]
    ]  # (n, c, h, w)
    numbers = batch.numbers.clone()
    numbers[:, features] = torch.where(
        (batch.part == 0)[:, None], cropped.flatten(1), images.flatten(1)
    )
    return replace(batch, numbers=numbers)
