"""Floating-point operations of a training step of a process, counted without content."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.nn import flops
from npt.processes.settings import NPTProcessSettings, TrainingSettings
from npt.processes.tasks import Tasks
from npt.processes.trained import build
from npt.table import Image


def update_flop(settings: TrainingSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step on tasks of the mean size."""
    context = (settings.fewest_context + settings.most_points) // 2
    targets = (context + settings.most_points) // 2
    if isinstance(settings, NPTProcessSettings):
        points = context + targets
        return flops.update(points, columns - 1, settings.network, settings.batch_tables)
    model = build(settings, inputs=columns - 2).to("meta")
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        x = torch.zeros(settings.batch_tables, targets, columns - 2)
        model.objective(Tasks(x, x[..., 0], context)).backward()
    return counter.get_total_flops()
