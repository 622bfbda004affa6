"""A whole training run with its evaluations, beside the plain implementation: time, and the validation loss it reaches.

Every contestant trains on the same generated table at a paper configuration, with an evaluation after every update as the
paper has it for small tables, and the learning rate annealed over the given number of updates. They take turns, some updates
at a time, so that a busy machine slows all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from benchmarks.machine import facts, seconds, write
from benchmarks.reference import PlainLamb, PlainNPT, plain_evaluation, plain_update
from benchmarks.shapes import TABLES, Shape, generated, shape
from npt.execution import arrange
from npt.loss import tradeoff
from npt.optim import learning_rate
from npt.training import build_model, build_optimiser, mean_label_loss, update

TURN = 5


@dataclass
class Runner:
    """One training: what an update with its evaluation does, the losses and the time so far."""

    name: str
    advance: Callable[[int], float]
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


def main() -> None:
    """Command line of the benchmark."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--configuration", choices=TABLES, default="breast_cancer")
    options.add_argument("--updates", type=int, default=100)
    options.add_argument("--ours", nargs="+", default=["float32", "bfloat16"], metavar="PRECISION")
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    device = torch.device(given.device)
    one = shape(given.configuration)
    one = replace(one, settings=replace(one.settings, updates=given.updates, batch_rows=None))
    runners = [_ours(one, precision, device) for precision in given.ours] + [_reference(one, device)]
    print(f"{facts(device)['device']}, {given.threads} threads: {given.configuration}, {given.updates} updates")
    for first in range(1, given.updates + 1, TURN):
        for runner in runners:
            for number in range(first, min(first + TURN, given.updates + 1)):
                runner.seconds += seconds(lambda r=runner, n=number: r.losses.append(r.advance(n)), device)
    rows = [
        {
            "implementation": runner.name,
            "seconds": runner.seconds,
            "speedup": runners[-1].seconds / runner.seconds,
            "best_validation_loss": min(runner.losses),
            "last_validation_loss": runner.losses[-1],
            "losses": runner.losses,
        }
        for runner in runners
    ]
    print(f"{'implementation':22} {'seconds':>8} {'speedup':>8} {'best loss':>10} {'last loss':>10}")
    for row in rows:
        print(
            f"{row['implementation']:22} {row['seconds']:8.1f} {row['speedup']:8.2f} {row['best_validation_loss']:10.4f}"
            f" {row['last_validation_loss']:10.4f}"
        )
    write(given.json, {"benchmark": "npt_training", **facts(device), "configuration": given.configuration, "rows": rows})


def _ours(one: Shape, precision: str, device: torch.device) -> Runner:
    settings = replace(one.settings, precision=precision)
    data, _ = generated(one, device)
    model = build_model(one.layout, settings, 0, device)
    optimiser = build_optimiser(model, settings)
    arrange(model, one.rows, settings, device)

    def advance(number: int) -> float:
        update(model, optimiser, data, number, settings, 0)
        return mean_label_loss(model, data, "validation", settings, 0, number)

    return Runner(f"npt, {precision}", advance)


def _reference(one: Shape, device: torch.device) -> Runner:
    _, table = generated(one, device)
    torch.manual_seed(0)
    model = PlainNPT(one.layout.sizes, one.layout.continuous, one.settings).to(device)
    optimiser = PlainLamb(model, one.settings)

    def advance(number: int) -> float:
        rate = learning_rate(number, one.settings)
        plain_update(model, optimiser, table, one.settings, tradeoff(number, one.settings), rate)
        return plain_evaluation(model, table, one.settings)

    return Runner("reference, float32", advance)


if __name__ == "__main__":
    main()
