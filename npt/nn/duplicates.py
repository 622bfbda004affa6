"""The lookup task (paper section 4.2, Appendix B.1): every row of a batch once more, with its target shown where it may be.

A model that attends between datapoints can find a row's duplicate and read its target there; one that does not cannot. n rows,
d columns. The duplicates of a mode's own rows show their targets, those of all others hide them, so that training never sees a
target of validation or test rows.

The paper's noise is in the last three features of both halves. The released code's is in all features but two, on the
duplicates alone, and there, as with its targets that are larger by one, the mask channel is set too: the model is told which
cells were tampered with. These are the variants `released_...`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from npt.interface import UserError
from npt.nn.inputs import EncodedTable, ModelInput

NOISY_FEATURES = 3
RELEASED = "released_"
RELEASED_INTACT = 2


@dataclass(frozen=True)
class Rule:
    """What a variant does to the duplicates: noise in features (in `both_halves`, or theirs alone), targets larger by one.

    `marked` cells that were tampered with have their mask channel set.
    """

    random_features: bool
    add_one: bool
    both_halves: bool
    marked: bool

    @classmethod
    def of(cls, variant: str) -> Rule:
        """The rule of a setting `lookup`."""
        released = variant.startswith(RELEASED)
        return cls("random_features" in variant, "add_one" in variant, not released, released)


def noisy_from(rule: Rule, features: int) -> int:
    """The first of so many features that has noise."""
    return (
        max(0, features - NOISY_FEATURES)
        if rule.both_halves
        else min(RELEASED_INTACT, features - 1)
    )


def with_duplicates(
    cells: ModelInput,
    batch: EncodedTable,
    own: torch.Tensor,
    variant: str,
    generator: torch.Generator,
) -> ModelInput:
    """ModelInput (1, n, d) of the originals, followed by those of their duplicates (1, 2 n, d).

    The rows `own` (n,) have duplicates with targets. Noise is N(1, 1), drawn for each half; targets are larger by one standard
    deviation.

    Raises:
        UserError: the variant does not fit the table's columns.
    """
    rule, n = Rule.of(variant), len(own)
    target = torch.zeros_like(batch.missing)
    target[:, batch.target] = True
    copies = batch.visible().hide((target & ~own[:, None])[None])
    both = ModelInput(
        *(torch.cat(pair, 1) for pair in zip(_parts(cells), _parts(copies), strict=True))
    )
    if rule.random_features:
        both = _noisy(
            both, _noisy_features(batch, rule), 0 if rule.both_halves else n, rule, generator
        )
    if rule.add_one:
        if not batch.continuous[batch.target]:
            raise UserError("lookup: add_one is for regression")
        shown = own & ~batch.missing[:, batch.target]
        scale, mask = both.scale.clone(), both.mask.clone()
        scale[0, n:, batch.target] += shown.to(scale.dtype)
        if rule.marked:
            mask[0, n:, batch.target] = 1.0
        both = ModelInput(both.codes, scale, mask)
    return both


def _parts(cells: ModelInput) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return cells.codes, cells.scale, cells.mask


def _noisy_features(batch: EncodedTable, rule: Rule) -> list[int]:
    features = [j for j in range(batch.missing.shape[1]) if j != batch.target]
    noisy = features[noisy_from(rule, len(features)) :]
    if not bool(batch.continuous[noisy].all()):
        which = "the last three features" if rule.both_halves else "all features but the first two"
        raise UserError(f"lookup: random_features needs numbers in {which}")
    return noisy


def _noisy(
    cells: ModelInput, features: list[int], start: int, rule: Rule, generator: torch.Generator
) -> ModelInput:
    """The rows from `start` on with noise in the features, visible like any number unless it is marked."""
    scale, mask = cells.scale.clone(), cells.mask.clone()
    rows = scale.shape[1] - start
    noise = torch.randn((1, rows, len(features)), generator=generator, device=scale.device) + 1
    scale[:, start:, features], mask[:, start:, features] = (
        noise.to(scale.dtype),
        float(rule.marked),
    )
    return ModelInput(cells.codes, scale, mask)
