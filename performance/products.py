"""Rates of NPT's matrix products, beside that of a large square product.

A linear layer of a block between datapoints multiplies n rows of width h = d e with a weight of
(h, h), and the feed-forward layer with (h, f h) and (f h, h). They take turns with the square
product; ratios are medians over the rounds.
"""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import torch

from performance.machine import MatrixRate, parser, seconds, start, write
from performance.shapes import SHAPES, Shape, paper_shape

OPERATIONS = 2e10  # of a measurement, at least


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument(
        "--configurations",
        nargs="+",
        choices=[*SHAPES],
        default=["yacht", "concrete", "breast_cancer"],
    )
    options.add_argument("--rounds", type=int, default=7)
    arguments = options.parse_args()
    device = start(arguments)
    square = MatrixRate(torch.float32, device)
    rows = []
    for name in arguments.configurations:
        for row in measure(paper_shape(name), square, arguments.rounds, device):
            print(json.dumps(row), flush=True)
            rows.append(row | {"threads": arguments.threads})
    write(arguments, "products", rows)


def measure(
    shape: Shape,
    square: MatrixRate,
    rounds: int,
    device: torch.device,
) -> list[dict[str, Any]]:
    """Rates of the products of a configuration, in 10^9 operations a second."""
    width = shape.columns * shape.settings.width
    wider = shape.settings.feed_forward * width
    weights = {"h × h": (width, width), "h × 4h": (width, wider), "4h × h": (wider, width)}
    measured = []
    for product, (inputs, outputs) in weights.items():
        left = torch.randn(shape.rows, inputs, device=device)
        right = torch.randn(inputs, outputs, device=device)
        rates = []
        for _ in range(rounds):
            of_square = square.measure()
            rates.append((_rate(left, right, device), of_square))
        row = {
            "configuration": shape.name,
            "rows": shape.rows,
            "width": width,
            "product": product,
            "gigaflops": median(rate for rate, _ in rates) / 1e9,
            "square_gigaflops": median(of_square for _, of_square in rates) / 1e9,
            "ratio": median(rate / of_square for rate, of_square in rates),
        }
        measured.append(row)
    return measured


def _rate(left: torch.Tensor, right: torch.Tensor, device: torch.device) -> float:
    """Operations a second of a product."""
    operations = 2 * left.shape[0] * right.numel()
    times = max(1, round(OPERATIONS / operations))

    def multiply() -> None:
        for _ in range(times):
            torch.mm(left, right)

    return times * operations / seconds(multiply, device)


if __name__ == "__main__":
    main()
