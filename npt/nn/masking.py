"""Which cells are hidden and which are scored (paper section 2.2, Appendix C.4).

n rows, d columns with the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from npt.nn.duplicates import true_features, with_duplicates
from npt.nn.inputs import PART, EncodedTable, ModelInput
from npt.nn.settings import NPTSettings
from npt.table import Part

RANDOMISED = 0.1


@dataclass(frozen=True)
class Masked:
    """Input of one batch, and what its loss is computed of.

    Attributes:
        cells: Input (1, n, d); in the lookup task the duplicates follow.
        features: Scored feature cells (n, d).
        labels: Rows (n,) whose target is scored.
    """

    cells: ModelInput
    features: Tensor
    labels: Tensor


def mask(
    batch: EncodedTable,
    mode: Part,
    settings: NPTSettings,
    generator: torch.Generator,
) -> Masked:
    """Hide targets, then features, by the rules of the mode; `batch` keeps the ground truth."""
    hidden, selected_targets, scored = _mask_targets(batch, mode, settings, generator)
    in_target = batch.cells_of_target()
    features = torch.zeros_like(batch.missing)
    if mode == "train" and settings.feature_mask > 0:
        selected = _bernoulli(batch.missing.shape, settings.feature_mask, generator)
        features = selected & ~batch.missing & ~in_target
    inputs = batch.visible().hide((hidden[:, None] & in_target)[None])
    if mode == "train" and (settings.feature_mask > 0 or settings.target_mask < 1):
        selected = features | (selected_targets[:, None] & in_target)
        inputs = _hide_or_randomise(inputs, selected, batch, generator)
    if settings.lookup != "off":
        in_mode = batch.part == PART[mode]
        inputs = with_duplicates(inputs, batch, in_mode, settings.lookup, generator)
        features = features & true_features(batch, settings.lookup)
    return Masked(inputs, features, scored)


def _mask_targets(
    batch: EncodedTable,
    mode: Part,
    settings: NPTSettings,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows (n,) whose target is hidden for certain, hidden or randomised by draw, and scored."""
    in_mode = batch.part == PART[mode]
    known = ~batch.missing[:, batch.target]
    nothing = torch.zeros_like(in_mode)
    if settings.target_mask == 1:
        return ~nothing, nothing, in_mode & known
    if mode == "train":
        selected = _bernoulli(in_mode.shape, settings.target_mask, generator) & in_mode & known
        return ~in_mode, selected, selected
    visible = batch.part == PART["train"]
    if mode == "test" and settings.validation_labels_at_test:
        visible = visible | (batch.part == PART["validation"])
    return ~visible, nothing, in_mode & known


def _hide_or_randomise(
    inputs: ModelInput,
    selected: Tensor,
    batch: EncodedTable,
    generator: torch.Generator,
) -> ModelInput:
    """Hide nine tenths of the selected cells, randomise the others (paper Appendix C.4.3)."""
    random = selected & _bernoulli(selected.shape, RANDOMISED, generator)
    uniform = torch.rand(selected.shape, generator=generator, device=selected.device)
    normal = torch.randn(selected.shape, generator=generator, device=selected.device)
    random_codes = (uniform * batch.sizes).long()
    codes = torch.where(random & ~batch.continuous, random_codes, inputs.codes)
    scale = torch.where(random & batch.continuous, normal, inputs.scale)
    return ModelInput(codes, scale, inputs.mask).hide((selected & ~random)[None])


def _bernoulli(
    shape: torch.Size,
    probability: float,
    generator: torch.Generator,
) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device) < probability
