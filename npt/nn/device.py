"""How a training computes on its device: precision, determinism, compilation, and whether activations are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from npt.interface import UserError
from npt.nn.kernels.dropout import leave_out
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings

ACTIVATIONS = (
    24  # tensors (n, d, e) of float32 that one block keeps for the backward pass, attention apart
)
SHARE_OF_MEMORY = 0.5
CGROUP = Path("/sys/fs/cgroup")


def autocast(settings: NPTSettings, device: torch.device) -> torch.autocast:
    """Matrix products of a forward pass in bfloat16, where the settings ask for it."""
    return torch.autocast(device.type, torch.bfloat16, enabled=settings.precision == "bfloat16")


def device_of(name: str) -> torch.device:
    """The device that `auto`, `cpu` or a torch device name means here.

    Raises:
        UserError: the name is unknown, or no GPU is at hand.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UserError(
            f"device: {name!r} is unknown; allowed: auto, cpu, or a torch device such as cuda:0"
        ) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError(
            f"device: {name} is not at hand (torch {torch.__version__} sees no GPU); allowed: auto, cpu"
        )
    return device


@contextmanager
def arithmetic(settings: NPTSettings, device: torch.device) -> Iterator[None]:
    """On a GPU, TF32 or full float32 inside the block, backward passes included, and the same bits on every run."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.get_float32_matmul_precision()
    strict, warned = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    torch.set_float32_matmul_precision("high" if settings.precision == "tf32" else "highest")
    torch.use_deterministic_algorithms(settings.deterministic)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        torch.use_deterministic_algorithms(strict, warn_only=warned)


@contextmanager
def evaluating(settings: NPTSettings, device: torch.device) -> Iterator[None]:
    """A forward pass without gradients, in the precision of the settings."""
    with torch.no_grad(), arithmetic(settings, device), autocast(settings, device):
        yield


def arrange(model: NPT, rows: int, settings: NPTSettings, device: torch.device) -> None:
    """Compile the model's blocks and have activations computed again, where the settings or the memory ask for it."""
    if settings.compile:
        leave_out()
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 64)
        for block in model.blocks:
            block.compile()
    if settings.recompute_activations == "auto":
        model.recompute = activation_bytes(model, rows, settings) > SHARE_OF_MEMORY * free_memory(
            device
        )
    else:
        model.recompute = settings.recompute_activations == "always"


def activation_bytes(model: NPT, rows: int, settings: NPTSettings) -> float:
    """An estimate of what one update keeps for its backward pass, for a batch of `rows` rows."""
    each = 2 if settings.precision == "bfloat16" else 4
    return len(model.blocks) * ACTIVATIONS * each * rows * model.layout.tokens * settings.width


def free_memory(device: torch.device) -> float:
    """Bytes that are left on the device; on the CPU, to this machine or to the container that the process runs in."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    found = [float("inf")]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        found += [
            1024.0 * int(line.split()[1])
            for line in meminfo.read_text().splitlines()
            if line.startswith("MemAvailable:")
        ]
    limit, used = CGROUP / "memory.max", CGROUP / "memory.current"
    if limit.exists() and used.exists() and (most := limit.read_text().strip()) != "max":
        found.append(float(most) - float(used.read_text()))
    return max(0.0, min(found))
