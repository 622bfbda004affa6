"""A whole training run with its evaluations, beside the plain implementation: time, and the validation loss it reaches.

Every contestant trains on the same generated table at a paper configuration, with an evaluation after every update as the
paper has it for small tables, and the learning rate annealed over the given number of updates. They take turns, some updates
at a time, so that a busy machine slows all of them.
"""

from __future__ import annotations

from dataclasses import replace

from performance.contestants import Contestant, ours, reference
from performance.machine import begin, facts, parser, seconds, write
from performance.shapes import TABLES, shape

TURN = 5


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--configuration", choices=TABLES, default="breast_cancer")
    options.add_argument("--updates", type=int, default=100)
    options.add_argument("--ours", nargs="+", default=["float32", "bfloat16"], metavar="PRECISION")
    given = options.parse_args()
    device = begin(given)
    one = shape(given.configuration)
    one = replace(one, settings=one.settings.changed(updates=given.updates))
    contestants = [ours(one, precision, device) for precision in given.ours] + [
        reference(one, device)
    ]
    losses: dict[str, list[float]] = {c.name: [] for c in contestants}

    def advance(c: Contestant) -> None:
        c.step()
        losses[c.name].append(c.evaluate())

    print(f"{given.configuration}, {given.updates} updates", flush=True)
    for first in range(0, given.updates, TURN):
        for c in contestants:
            c.steps += [
                seconds(lambda c=c: advance(c), device)
                for _ in range(min(TURN, given.updates - first))
            ]
    rows = [
        {
            "implementation": c.name,
            "seconds": sum(c.steps),
            "speedup": sum(contestants[-1].steps) / sum(c.steps),
            "best_validation_loss": min(losses[c.name]),
            "last_validation_loss": losses[c.name][-1],
            "losses": losses[c.name],
        }
        for c in contestants
    ]
    print(
        f"{'implementation':22} {'seconds':>8} {'speedup':>8} {'best loss':>10} {'last loss':>10}"
    )
    for row in rows:
        print(
            f"{row['implementation']:22} {row['seconds']:8.1f} {row['speedup']:8.2f} {row['best_validation_loss']:10.4f}"
            f" {row['last_validation_loss']:10.4f}"
        )
    write(
        given.json,
        {
            "benchmark": "npt_training",
            **facts(device),
            "configuration": given.configuration,
            "rows": rows,
        },
    )


if __name__ == "__main__":
    main()
