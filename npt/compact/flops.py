"""Floating-point operations of a training step of compact NPT, counted without content."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.compact.columns import Encoder
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from npt.table import Column, Image, Split, Table

TRAIN_SHARE = 0.7  # of the rows


def update_flop(settings: CompactSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step of all members, as if all columns were numbers."""
    batch = settings.batch_size(int(TRAIN_SHARE * rows))
    numbers = [Column(f"column {j}", "continuous") for j in range(columns)]
    table = Table.of(numbers, np.zeros((batch, columns)), columns - 1)
    everything = np.arange(batch)
    encoder = Encoder.of(table, Split(0, everything, everything[:0], everything[:0]), settings)
    model = CompactNPT(encoder, settings).to("meta")
    cells = encoder.encode(table).to(torch.device("meta"), torch.float32)
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        invisible = torch.zeros(batch, batch).bool()
        outputs = model.leave_one_out(cells, torch.zeros(batch, 1), None, invisible)
        outputs.sum().backward()
    return counter.get_total_flops()
