"""How a training computes on its device: precision, determinism, memory."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch

from npt.errors import UserError
from npt.nn import memory
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings, Precision

# Tensors that a block keeps for the backward pass, attention apart: of shape (n, d, e), and as wide
# as its feed-forward layer.
ACTIVATIONS = 12
WIDENED_ACTIVATIONS = 3
MEMORY_FRACTION = 0.5


def device_of(name: str) -> torch.device:
    """The device that `auto`, `cpu` or a torch device name means here.

    Raises:
        UserError: the name is unknown, or there is no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or not is_here(device):
        raise UserError(
            f"device: {name}: torch {torch.__version__} finds none here; allowed: auto, cpu, or a "
            "torch device such as cuda:0"
        )
    return device


def is_here(device: torch.device) -> bool:
    """Whether torch can use a device, without a start of it."""
    if device.type == "cpu":
        return True
    count = torch.accelerator.device_count()
    kind = torch.accelerator.current_accelerator() if count else None
    return kind is not None and device.type == kind.type and (device.index or 0) < count


def require_precision(precision: Precision, device: torch.device) -> None:
    """Refuse bfloat16 on a processor without instructions for it, where it is far slower.

    Raises:
        UserError: the processor has none.
    """
    if precision == "bfloat16" and device.type == "cpu" and not has_bfloat16(device):
        raise UserError(
            "precision: bfloat16: this processor has no instructions for it and would be many "
            "times slower; allowed: float32, auto"
        )


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for matrix products in bfloat16."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.ops.mkldnn._is_mkldnn_bf16_supported()


def uses_bfloat16(settings: NPTSettings, device: torch.device) -> bool:
    """Whether matrix products are in bfloat16: by the settings, or if the device has it."""
    if settings.precision == "auto":
        return has_bfloat16(device)
    return settings.precision == "bfloat16"


def autocast(settings: NPTSettings, device: torch.device) -> torch.autocast:
    """Matrix products of a forward pass in the precision of the settings."""
    enabled = uses_bfloat16(settings, device)
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


@contextmanager
def arithmetic(settings: NPTSettings, device: torch.device) -> Generator[None]:
    """On a GPU, the precision of float32 products inside the block, and determinism."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    precision = torch.get_float32_matmul_precision()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
    torch.use_deterministic_algorithms(True)
    options: Any = torch.utils.deterministic
    fills = options.fill_uninitialized_memory
    options.fill_uninitialized_memory = False  # all is written before it is read
    try:
        yield
    finally:
        options.fill_uninitialized_memory = fills
        torch.set_float32_matmul_precision(precision)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


@contextmanager
def evaluating(settings: NPTSettings, device: torch.device) -> Generator[None]:
    """A forward pass without gradients, in the precision of the settings."""
    with torch.no_grad(), arithmetic(settings, device), autocast(settings, device):
        yield


def prepare_blocks(
    model: NPT,
    rows: int,
    settings: NPTSettings,
    device: torch.device,
) -> None:
    """Choose whether activations are recomputed, for batches of `rows` rows."""
    model.recompute = settings.recompute_activations == "always"
    if settings.recompute_activations == "auto":
        tensors = ACTIVATIONS + WIDENED_ACTIVATIONS * settings.feed_forward
        numbers = len(model.blocks) * tensors * rows * model.layout.tokens * settings.width
        bytes_per_number = 2 if uses_bfloat16(settings, device) else 4
        model.recompute = bytes_per_number * numbers > MEMORY_FRACTION * free_memory(device)


def free_memory(device: torch.device) -> float:
    """Free bytes of the device; on the CPU, of the machine or the container."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return memory.free()
