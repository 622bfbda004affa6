"""Settings of solved NPT."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SolvedSettings:
    """Settings of solved NPT, whose defaults were chosen on the tables named in docs/solved.md.

    Attributes:
        steps: Steps of the tuning; with 0, all columns weigh alike.
        rate: First step size of Adam; it falls to 0.
        pull: Penalty of the squares of what is tuned, which starts at zero.
        tuned_rows: Most context rows of a step, drawn at random.
        ridges: Ridges of every head, before the tuning multiplies them by a factor.
        landmarks: Rows that the others attend through, if there are more than `exact_rows`.
        products: Whether two heads are products over columns, which hold their interactions.
        exact_rows: Most context rows whose system is solved directly.
        seed: Of the rows that are drawn.
    """

    steps: int = 15
    rate: float = 0.2
    pull: float = 0.02
    tuned_rows: int = 256
    ridges: tuple[float, ...] = (0.02, 0.4)
    products: bool = True
    exact_rows: int = 4000
    landmarks: int = 1500
    seed: int = 0
