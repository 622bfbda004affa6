"""The lookup task (paper section 4.2, Appendix B.1): every row of a batch once more, with its target shown where it may be.

A model that attends between datapoints can find a row's duplicate and read its target there; one that does not cannot. n rows,
d columns. The duplicates of a mode's own rows show their targets, those of all others hide them, so that training never sees a
target of validation or test rows.
"""

from __future__ import annotations

import torch

from npt.cells import Cells, Encoded
from npt.interface import UserError

NOISY_FEATURES = 3


def with_duplicates(cells: Cells, batch: Encoded, own: torch.Tensor, variant: str, generator: torch.Generator) -> Cells:
    """Cells (1, n, d) of the originals, followed by those of their duplicates (1, 2 n, d).

    The rows `own` (n,) have duplicates with targets. With `random_features` the last three features are noise N(1, 1), drawn
    for both halves; with `add_one` the targets shown are larger by one standard deviation.

    Raises:
        UserError: the variant does not fit the table's columns.
    """
    target = torch.zeros_like(batch.missing)
    target[:, batch.target] = True
    copies = batch.visible().hide((target & ~own[:, None])[None])
    both = Cells(*(torch.cat(pair, 1) for pair in zip(_parts(cells), _parts(copies), strict=True)))
    if "random_features" in variant:
        both = _noisy(both, _last_features(batch), generator)
    if "add_one" in variant:
        if not batch.continuous[batch.target]:
            raise UserError("lookup: add_one is for regression")
        n, shown = len(own), own & ~batch.missing[:, batch.target]
        scale = both.scale.clone()
        scale[0, n:, batch.target] += shown.to(scale.dtype)
        both = Cells(both.codes, scale, both.mask)
    return both


def _parts(cells: Cells) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return cells.codes, cells.scale, cells.mask


def _last_features(batch: Encoded) -> list[int]:
    features = [j for j in range(batch.missing.shape[1]) if j != batch.target][-NOISY_FEATURES:]
    if not bool(batch.continuous[features].all()):
        raise UserError("lookup: random_features needs numbers in the last three features")
    return features


def _noisy(cells: Cells, features: list[int], generator: torch.Generator) -> Cells:
    """Both halves with noise in the features, visible like any number."""
    scale, mask = cells.scale.clone(), cells.mask.clone()
    noise = torch.randn((*scale.shape[:2], len(features)), generator=generator, device=scale.device) + 1
    scale[..., features], mask[..., features] = noise.to(scale.dtype), 0.0
    return Cells(cells.codes, scale, mask)
