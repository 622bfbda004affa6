"""Floating-point operations of a training step of compact NPT, counted without content."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.compact.columns import Encoder, Features
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from npt.table import Column, Image

TRAIN_SHARE = 0.7  # of the rows


def update_flop(settings: CompactSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step of all members, as if all columns were numbers."""
    batch = settings.batch_size(int(TRAIN_SHARE * rows))
    features = columns - 1
    encoder = Encoder(
        columns=tuple(Column(f"column {j}", "continuous") for j in range(columns)),
        target=features,
        numeric=tuple(range(features)),
        categorical=(),
        centre=np.zeros(columns),
        scale=np.ones(columns),
        edges=np.zeros((features, settings.bins + 1)),
        means=np.zeros((features, settings.bins)),
    )
    model = CompactNPT(encoder, settings).to("meta")
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        numbers = torch.zeros(batch, features)
        cells = Features(numbers, numbers, torch.zeros(batch, 0).long(), numbers.bool())
        invisible = torch.zeros(batch, batch).bool()
        outputs = model.leave_one_out(cells, torch.zeros(batch, 1), None, invisible)
        outputs.sum().backward()
    return counter.get_total_flops()
