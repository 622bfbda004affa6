"""What is done to the rows beside the one that is predicted: the experiment of paper Algorithm 1, in doses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from npt.interface import UserError

Kind = Literal["shuffle", "delete"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Perturbation:
    """A share of the other rows, drawn at random for every predicted row, is spoilt.

    `shuffle` permutes every column over them, each by a permutation of its own (a share of 1 is paper Algorithm 1); `delete`
    leaves them out. A larger share spoils the rows of a smaller one and more. At a share of 0 nothing is done: the control.
    """

    kind: Kind
    share: float

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"{self.kind!r} is unknown; allowed: {', '.join(KINDS)}")
        most = 1.0 if self.kind == "shuffle" else 0.999
        if not 0 <= self.share <= most:
            raise UserError(f"{self.kind}: a share of {self.share} is outside 0 to {most:g}")

    def sources(self, seed: int, row: int, place: int, shape: tuple[int, int]) -> np.ndarray:
        """Where each cell of the disturbed context comes from (m, d): a row number below n for `shape` (n, d).

        The first of the m rows is the predicted one, at `place` of the n, and intact. `row` is its number in the table: it
        and the seed determine what is drawn, so that rows can be predicted in any company.
        """
        n, d = shape
        others = np.delete(np.arange(n), place)
        draws = np.random.default_rng((seed, row))
        order, spoilt = draws.permutation(len(others)), round(self.share * len(others))
        if self.kind == "delete":
            kept = np.sort(order[min(spoilt, len(others) - 1) :])
            return np.repeat(np.concatenate([[place], others[kept]])[:, None], d, 1)
        sources = np.repeat(np.concatenate([[place], others])[:, None], d, 1)
        chosen = order[:spoilt]
        shuffled = draws.random((len(others), d))[:spoilt].argsort(0)
        sources[1 + chosen] = others[chosen[shuffled]]
        return sources
