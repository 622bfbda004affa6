"""Several processes, each with a model of its own and gradients averaged over them, as `torchrun` starts them."""

from __future__ import annotations

import os

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def join(device: str) -> str:
    """Join the group that `torchrun` set up, if any; the device of this process, such as `cuda:1` for its second."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return device
    wanted = "cuda" if device == "auto" and torch.cuda.is_available() else device
    on_gpu = wanted.startswith("cuda")
    own = f"cuda:{os.environ['LOCAL_RANK']}" if on_gpu else "cpu"
    if on_gpu:
        torch.cuda.set_device(own)
    if not distributed.is_initialized():
        distributed.init_process_group(
            "nccl" if on_gpu else "gloo", device_id=torch.device(own) if on_gpu else None
        )
    return own


def leave() -> None:
    """Leave the group, if there is one."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def rank() -> int:
    """Number of this process; 0 writes the results."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def processes() -> int:
    """Number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def averaging(model: nn.Module) -> nn.Module:
    """The model, with gradients averaged over all processes where there are several."""
    return DistributedDataParallel(model) if processes() > 1 else model


def summed(values: torch.Tensor) -> torch.Tensor:
    """The sum of a tensor over all processes."""
    if processes() > 1:
        distributed.all_reduce(values)
    return values
