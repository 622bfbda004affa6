"""Time of a training step by kind of work, from PyTorch's profiler."""

from __future__ import annotations

from typing import Any

import torch

from performance.implementations import ours
from performance.shapes import Shape

KINDS_OF_WORK = {
    "linear layers": ("aten::mm", "aten::addmm"),
    "attention products": ("aten::bmm", "aten::baddbmm", "scaled_dot_product"),
    "optimiser": (
        "_fused_adam_",
        "linalg_vector_norm",
        "_foreach_norm",
        "aten::addcmul_",
        "aten::clamp_",
        "aten::lerp_",
    ),
    "softmax": ("aten::_softmax",),
    "activations and norms": ("gelu", "layer_norm"),
    "masks": ("_Explicit", "aten::ge_", "aten::uniform_", "aten::rand", "aten::normal_"),
}
OTHER = "everything else"


def profiled(
    shape: Shape,
    name: str,
    device: torch.device,
    steps: int = 5,
) -> dict[str, Any]:
    """Shares of the time of a few steps; unnamed work is copies, sums and the like."""
    implementation = ours(shape, name, device)
    implementation.step()
    with torch.profiler.profile() as recorded:
        for _ in range(steps):
            implementation.step()
    times = dict.fromkeys([*KINDS_OF_WORK, OTHER], 0.0)
    for event in recorded.key_averages():
        duration = event.self_device_time_total or event.self_cpu_time_total
        times[kind_of(event.key)] += duration
    total = sum(times.values())
    shares = {kind: time / total for kind, time in times.items()}
    listed = ", ".join([f"{kind} {share:.0%}" for kind, share in shares.items()])
    print(f"{shape.name}, {implementation.name}: {listed}", flush=True)
    return {
        "configuration": shape.name,
        "implementation": implementation.name,
        "shares": shares,
    }


def kind_of(operator: str) -> str:
    """Kind of work of an operator; a backward node only calls operators that count themselves."""
    if "Backward" in operator:
        return OTHER
    for kind, parts in KINDS_OF_WORK.items():
        if any(part in operator for part in parts):
            return kind
    return OTHER
