"""Attention without dropout by length: explicit, elementwise, and PyTorch's fused kernel.

Each length has about as many scores. Heads lie side by side in memory, as a block has them. The
implementations take turns; ratios to the fused kernel are medians over the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import torch

from npt.nn.kernels.attention import elementwise, explicit, fused
from performance.machine import parser, seconds, start, write
from performance.table_columns import ATTENTION, print_row, print_titles

LENGTHS = (2, 3, 4, 8, 16, 32, 50, 100, 200)
SCORES = 2**21  # of a measurement
HEADS = 8
FEW = 8  # positions that are also attended to elementwise
Attention = Callable[..., torch.Tensor]


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--lengths", type=int, nargs="+", default=[*LENGTHS])
    options.add_argument("--head-widths", type=int, nargs="+", default=[8, 16, 32])
    options.add_argument("--rounds", type=int, default=9)
    arguments = options.parse_args()
    device = start(arguments)
    rows = []
    print_titles(ATTENTION)
    for width in arguments.head_widths:
        for length in arguments.lengths:
            row = measure(length, width, arguments.rounds, device)
            print_row(row, ATTENTION)
            rows.append(row)
    write(arguments, "attention", rows)


def measure(length: int, head_width: int, rounds: int, device: torch.device) -> dict[str, Any]:
    """Times of all implementations on sequences of a length."""
    sequences = max(1, SCORES // (HEADS * length**2))
    shape = (sequences, length, HEADS, head_width)
    inputs = []
    for _ in range(3):
        inputs.append(torch.randn(shape, device=device, requires_grad=True))

    def attended(attention: Attention) -> torch.Tensor:
        by_head = [x.transpose(1, 2) for x in inputs]
        out = attention(*by_head, scale=head_width**-0.5)
        return out.transpose(1, 2).flatten(2)

    def forward(attention: Attention) -> None:
        with torch.no_grad():
            attended(attention)

    def training(attention: Attention) -> None:
        attended(attention).sum().backward()

    attentions = {"explicit": explicit, "fused": fused}
    if length <= FEW:
        attentions["elementwise"] = elementwise
    row: dict[str, Any] = {
        "length": length,
        "head_width": head_width,
        "sequences": sequences,
    }
    for name, step in {"forward": forward, "training": training}.items():
        times = in_turn(attentions, step, rounds, device)
        row |= {f"{name}_{key}": value for key, value in times.items()}
    return row


def in_turn(
    attentions: Mapping[str, Attention],
    step: Callable[[Attention], None],
    rounds: int,
    device: torch.device,
) -> dict[str, float]:
    """Least milliseconds of a step with each attention, and the median ratio of the rounds."""
    times: dict[str, list[float]] = {name: [] for name in attentions}
    for number in range(rounds + 1):
        for name, attention in attentions.items():
            taken = seconds(lambda attention=attention: step(attention), device)
            if number:  # the first round warms up
                times[name].append(taken)
    measured: dict[str, float] = {}
    for name, of_name in times.items():
        ratios = []
        for own, fused_seconds in zip(of_name, times["fused"], strict=True):
            ratios.append(own / fused_seconds)
        measured[f"{name}_ms"] = 1000 * min(of_name)
        measured[f"{name}_ratio"] = median(ratios)
    return measured


if __name__ == "__main__":
    main()
