"""The lookup task (paper section 4.2, Appendix B.1): every row of a batch has a duplicate.

A model that attends between datapoints can find a row's duplicate and copy its target; a model that
does not cannot. The duplicates of a mode's own rows show their targets, those of all others hide
them, so that training never sees a target of validation or test rows. n rows, d columns.

The paper's noise is in the last three features of both halves. The noise of the released code is in
all features but two, in the duplicates alone, and there, as with its shifted targets, the mask
channel is set too: the input marks the changed cells. These are the variants `released_...`. One
difference remains: with a `feature_mask` above 0, the released code shifts no target in training.
Duplicates show features that are masked in the originals.
"""

from __future__ import annotations

import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.inputs import EncodedTable, ModelInput

NOISY_FEATURES = 3
RELEASED_INTACT = 2


def is_released(variant: str) -> bool:
    """Whether it is the released code's: originals without noise, changed cells with their mask."""
    return variant.startswith("released_")


def noisy_from(variant: str, features: int) -> int:
    """Index of the first noisy feature of so many."""
    if is_released(variant):
        return min(RELEASED_INTACT, features - 1)
    return max(0, features - NOISY_FEATURES)


def true_features(batch: EncodedTable, variant: str) -> Tensor:
    """Columns (d,) in which the originals keep their values: noise cannot be predicted."""
    intact = torch.ones_like(batch.continuous)
    if variant.startswith("random_features"):
        intact[_noisy_features(batch, variant)] = False
    return intact


def with_duplicates(
    inputs: ModelInput,
    batch: EncodedTable,
    revealing: Tensor,
    variant: str,
    generator: torch.Generator,
) -> ModelInput:
    """The originals' input (1, n, d), followed by the duplicates': (1, 2 n, d).

    Noise is N(1, 1), drawn for each half. Shifted targets are larger by one standard deviation.

    Args:
        revealing: Rows (n,) whose duplicates show the target.

    Raises:
        UserError: the variant does not fit the table's columns.
    """
    released = is_released(variant)
    n = len(revealing)
    duplicates = batch.visible().hide((batch.cells_of_target() & ~revealing[:, None])[None])
    pairs = zip(inputs, duplicates, strict=True)
    codes, scale, mask = (torch.cat(pair, 1) for pair in pairs)
    if "random_features" in variant:
        start = n if released else 0
        noisy = _noisy_features(batch, variant)
        shape = (1, 2 * n - start, len(noisy))
        noise = torch.randn(shape, generator=generator, device=scale.device) + 1
        scale[:, start:, noisy] = noise.to(scale.dtype)
        mask[:, start:, noisy] = float(released)
    if "add_one" in variant:
        if not batch.continuous[batch.target]:
            raise UserError("lookup: add_one is for regression")
        visible = revealing & ~batch.missing[:, batch.target]
        scale[0, n:, batch.target] += visible.to(scale.dtype)
        if released:
            mask[0, n:, batch.target] = 1.0
    return ModelInput(codes, scale, mask)


def _noisy_features(batch: EncodedTable, variant: str) -> list[int]:
    features = [j for j in range(batch.missing.shape[1]) if j != batch.target]
    noisy = features[noisy_from(variant, len(features)) :]
    if not batch.continuous[noisy].all():
        where = "the last three features"
        if is_released(variant):
            where = "all features but the first two"
        raise UserError(f"lookup: random_features needs continuous columns in {where}")
    return noisy
