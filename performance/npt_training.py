"""Time of a training run with its evaluations, and the validation loss it reaches, for NPT and a
plain implementation.

All train on the same generated table at a configuration of the paper, with an evaluation after
every update, as in the paper for small tables. The learning rate is annealed over the given number
of updates. They take turns of a few updates, so that other work on the machine slows all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from performance.implementations import Implementation, ours, reference
from performance.machine import parser, seconds, start, write
from performance.shapes import SHAPES, paper_shape
from performance.table_columns import TRAINING, print_row, print_titles

UPDATES_A_TURN = 5


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--configuration", choices=SHAPES, default="breast_cancer")
    options.add_argument("--updates", type=int, default=100)
    options.add_argument("--ours", nargs="+", default=["float32"], metavar="PRECISION")
    arguments = options.parse_args()
    device = start(arguments)
    shape = paper_shape(arguments.configuration)
    settings = shape.settings.changed(updates=arguments.updates)
    shape = replace(shape, settings=settings)
    runs = [Run(ours(shape, precision, device)) for precision in arguments.ours]
    runs.append(Run(reference(shape, device)))
    print(f"{shape.name}, {arguments.updates} updates", flush=True)
    for first in range(0, arguments.updates, UPDATES_A_TURN):
        updates = min(UPDATES_A_TURN, arguments.updates - first)
        for run in runs:
            run.advance(updates, device)
    rows = [run.row(runs[-1]) for run in runs]
    print_titles(TRAINING)
    for row in rows:
        print_row(row, TRAINING)
    write(arguments, f"npt_training {shape.name}", rows)


class Run:
    """A training run of one implementation."""

    def __init__(self, implementation: Implementation) -> None:
        self.implementation = implementation
        self.losses: list[float] = []
        self.seconds = 0.0

    def advance(
        self,
        updates: int,
        device: torch.device,
    ) -> None:
        """Do some updates, each with its evaluation."""
        for _ in range(updates):
            self.seconds += seconds(self._update_and_evaluate, device)

    def row(self, plain: Run) -> dict[str, Any]:
        """Measurements compared with those of the plain implementation."""
        return {
            "implementation": self.implementation.name,
            "seconds": self.seconds,
            "speedup": plain.seconds / self.seconds,
            "best_validation_loss": min(self.losses),
            "last_validation_loss": self.losses[-1],
            "losses": self.losses,
        }

    def _update_and_evaluate(self) -> None:
        self.implementation.step()
        self.losses.append(self.implementation.evaluate())


if __name__ == "__main__":
    main()
