"""How a training computes on its device: precision, compilation, and whether activations are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from npt.model import NPT
from npt.settings import NPTSettings

ACTIVATIONS = 24  # tensors (n, d, e) of float32 that one block keeps for the backward pass, attention apart
SHARE_OF_MEMORY = 0.5


@contextmanager
def precision(settings: NPTSettings, device: torch.device) -> Iterator[None]:
    """The arithmetic of matrix products inside the block: float32, TF32 (GPUs alone), or bfloat16 by autocast."""
    before = torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = "tf32" if settings.precision == "tf32" else "ieee"
    try:
        with torch.autocast(device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"):
            yield
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


def arrange(model: NPT, rows: int, settings: NPTSettings, device: torch.device) -> None:
    """Compile the model's blocks and have activations computed again, where the settings or the memory ask for it."""
    if settings.compile:
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 64)
        for block in model.blocks:
            block.compile()
    if settings.recompute_activations == "auto":
        model.recompute = activation_bytes(model, rows, settings) > SHARE_OF_MEMORY * free_memory(device)
    else:
        model.recompute = settings.recompute_activations == "always"


def activation_bytes(model: NPT, rows: int, settings: NPTSettings) -> float:
    """An estimate of what one update keeps for its backward pass, for a batch of `rows` rows."""
    each = 2 if settings.precision == "bfloat16" else 4
    return len(model.blocks) * ACTIVATIONS * each * rows * len(model.layout.sizes) * settings.width


def free_memory(device: torch.device) -> float:
    """Bytes that the device has left."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return float("inf")
