"""Time and memory of a training step of NPT with each attention kernel, and of a span whose
distant rows are skipped.

Steps are of a table with standard normal columns. In every round each kernel takes its turn, in one
process with the same threads; ratios to dot products are medians over the rounds.

The second table is of attention between datapoints alone, forward and backward with dropout: with
all pairs, and with a span of several widths at a threshold of 0.1. `Pairs` is the fraction that is
computed, `near` that within the radius.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from npt.nn.kernels.attention import AttentionDropout, dot_product
from npt.nn.kernels.dropout import DropoutMasks
from npt.nn.kernels.local import (
    local_attention,
    neighbourhoods,
    pairs_of,
    radius_of,
    squared_distances,
)
from npt.nn.settings import NPTSettings
from performance.implementations import ours
from performance.machine import parser, seconds, start, write
from performance.shapes import Shape, layout_of
from performance.table_columns import KERNELS, SPANS, print_row, print_titles

CHANGES: dict[str, dict[str, Any]] = {
    "dot": {},
    "l2": {"kernel": "l2"},
    "l2_tied": {"kernel": "l2_tied"},
    "l2_contractive": {"kernel": "l2_contractive"},
    "span": {"kernel": "span"},
    "span, multiplied": {"kernel": "span", "span_form": "multiplied"},
}
COLUMNS = 7
HEADS = 8
HEAD_WIDTH = 32
RATE = 0.1  # of dropout
RADIUS = radius_of(0.1)
WIDTHS = (4.0, 1.0, 0.5, 0.25)  # sigma, in standard deviations of a column


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    options.add_argument("--span-rows", type=int, nargs="+", default=[2000, 5000])
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    device = start(arguments)
    rows: list[dict[str, Any]] = []
    print_titles(KERNELS)
    for count in arguments.rows:
        for row in _steps(count, arguments.rounds, device):
            print_row(row, KERNELS)
            rows.append(row)
    print_titles(SPANS)
    for count in arguments.span_rows:
        for row in _spans(count, arguments.rounds, device):
            print_row(row, SPANS)
            rows.append(row)
    write(arguments, "kernels", rows)


def _steps(rows: int, rounds: int, device: torch.device) -> list[dict[str, Any]]:
    """A row for each kernel."""
    implementations = {}
    for name, changes in CHANGES.items():
        settings = NPTSettings(width=32, layers=4, heads=HEADS).changed(**changes)
        shape = Shape(name, rows, layout_of([1] * COLUMNS), settings)
        implementations[name] = ours(shape, "float32", device)
        implementations[name].step()  # warm up
    for _ in range(rounds):
        for implementation in implementations.values():
            gc.collect()
            implementation.steps.append(seconds(implementation.step, device))
    plain = implementations["dot"].steps
    measured = []
    for name, implementation in implementations.items():
        ratios = []
        for ours_seconds, plain_seconds in zip(implementation.steps, plain, strict=True):
            ratios.append(ours_seconds / plain_seconds)
        measured.append(
            {
                "measured": "step",
                "kernel": name,
                "rows": rows,
                "step_ms": 1000 * min(implementation.steps),
                "ratio": median(ratios),
            }
        )
    return measured


def _spans(rows: int, rounds: int, device: torch.device) -> list[dict[str, Any]]:
    """A row for all pairs, and one for each width."""
    generator = torch.Generator().manual_seed(0)
    shape = (1, HEADS, rows, HEAD_WIDTH)
    tensors = []
    for _ in range(3):
        drawn = torch.randn(shape, generator=generator).to(device)
        tensors.append(drawn.requires_grad_())
    located = torch.randn(1, rows, COLUMNS - 1, generator=generator).to(device)
    dropout = AttentionDropout(RATE, DropoutMasks(), 0)
    scale = HEAD_WIDTH**-0.5

    def of_all() -> None:
        dot_product(*tensors, scale=scale, dropout=dropout).sum().backward()

    actions: dict[float, Callable[[], None]] = {math.inf: of_all}
    for width in WIDTHS:
        scaled = located / width

        def of_near(scaled: torch.Tensor = scaled) -> None:
            queries, keys, values = tensors
            output = local_attention(
                queries,
                keys,
                values,
                scaled,
                scaled,
                RADIUS,
                scale=scale,
                dropout=dropout,
            )
            output.sum().backward()

        actions[width] = of_near
    times: dict[float, list[float]] = {width: [] for width in actions}
    for action in actions.values():
        action()  # warm up
    for _ in range(rounds):
        for width, action in actions.items():
            times[width].append(seconds(action, device))
    measured = []
    for width, of_width in times.items():
        ratios = []
        for near, everything in zip(of_width, times[math.inf], strict=True):
            ratios.append(everything / near)
        row = {
            "measured": "span",
            "rows": rows,
            "sigma": "all pairs" if math.isinf(width) else f"{width:g}",
            "milliseconds": 1000 * min(of_width),
            "speedup": median(ratios),
            "near": 1.0,
            "pairs": 1.0,
        }
        if not math.isinf(width):
            scaled = located[0] / width
            squares = squared_distances(scaled, scaled)
            row["near"] = (squares <= RADIUS**2).float().mean().item()
            row["pairs"] = pairs_of(neighbourhoods(scaled, scaled, RADIUS)) / rows**2
        measured.append(row)
    return measured


if __name__ == "__main__":
    main()
