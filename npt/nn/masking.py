"""Which cells are hidden and which are scored (paper section 2.2, Appendix C.4).

n rows, d columns with the target; parts of rows: 0 train, 1 validation, 2 test.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from npt.interface import Mode
from npt.nn.duplicates import with_duplicates
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.settings import NPTSettings

PART: dict[Mode, int] = {"train": 0, "validation": 1, "test": 2}
RANDOMISED = 0.1


@dataclass(frozen=True)
class Masked:
    """Input of one batch (B = 1), and whose loss counts: the cells `features` (n, d) and the rows' targets `labels` (n,).

    Rows of the input beyond the n of the batch are duplicates of the lookup task.
    """

    cells: ModelInput
    features: torch.Tensor
    labels: torch.Tensor


def mask(
    batch: EncodedTable, mode: Mode, settings: NPTSettings, generator: torch.Generator
) -> Masked:
    """Hide targets, then features, as the mode asks; the ground truth in `batch` stays as it is."""
    hidden, drawn, scored = _targets(batch, mode, settings, generator)
    selected = torch.zeros_like(batch.missing)
    if mode == "train" and settings.feature_mask > 0:
        selected = (
            _bernoulli(batch.missing.shape, settings.feature_mask, generator) & ~batch.missing
        )
        selected[:, batch.target] = False
    in_target = torch.zeros_like(batch.missing)
    in_target[:, batch.target] = True
    cells = batch.visible().hide((hidden[:, None] & in_target)[None])
    if mode == "train" and (settings.feature_mask > 0 or settings.target_mask < 1):
        cells = _hide_or_randomise(cells, selected | (drawn[:, None] & in_target), batch, generator)
    if settings.lookup != "off":
        cells = with_duplicates(cells, batch, batch.part == PART[mode], settings.lookup, generator)
    return Masked(cells, selected, scored)


def _targets(
    batch: EncodedTable, mode: Mode, settings: NPTSettings, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows (n,) whose target is hidden for certain, hidden or randomised by draw, and scored."""
    own = batch.part == PART[mode]
    known = ~batch.missing[:, batch.target]
    everything, nothing = torch.ones_like(own), torch.zeros_like(own)
    if settings.target_mask == 1:
        return everything, nothing, own & known
    if mode == "train":
        drawn = _bernoulli(own.shape, settings.target_mask, generator) & own & known
        return ~own, drawn, drawn
    shown = batch.part == 0
    if mode == "test" and settings.validation_labels_at_test:
        shown = shown | (batch.part == 1)
    return ~shown, nothing, own & known


def _hide_or_randomise(
    cells: ModelInput, selected: torch.Tensor, batch: EncodedTable, generator: torch.Generator
) -> ModelInput:
    """Nine tenths of the selected cells are hidden, one tenth shows a random valid value (paper Appendix C.4.3)."""
    random = selected & _bernoulli(selected.shape, RANDOMISED, generator)
    uniform = torch.rand(selected.shape, generator=generator, device=selected.device)
    normal = torch.randn(selected.shape, generator=generator, device=selected.device)
    codes = torch.where(random & ~batch.continuous, (uniform * batch.sizes).long(), cells.codes)
    scale = torch.where(random & batch.continuous, normal, cells.scale)
    return ModelInput(codes, scale, cells.mask).hide((selected & ~random)[None])


def _bernoulli(shape: torch.Size, probability: float, generator: torch.Generator) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device=generator.device) < probability
