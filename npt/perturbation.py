"""Perturbations of the other rows of a query row (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from npt.interface import UserError, unknown

Kind = Literal["shuffle", "delete"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_SHARE = {"shuffle": 1.0, "delete": 0.999}


@dataclass(frozen=True)
class Perturbation:
    """A random share of the other rows is perturbed, drawn for each query row.

    A larger share perturbs the rows of a smaller one and more. A share of 0 changes nothing: the
    control.

    Attributes:
        kind: `shuffle` permutes every column over the chosen rows, each by its own permutation; a
            share of 1 is the paper's Algorithm 1. `delete` removes the chosen rows.
    """

    kind: Kind
    share: float

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"perturbation: {unknown(self.kind, KINDS)}")
        largest = LARGEST_SHARE[self.kind]
        if not 0 <= self.share <= largest:
            raise UserError(f"{self.kind}: a share of {self.share} is outside 0 to {largest:g}")

    def sources(
        self,
        seed: int,
        row: int,
        query: int,
        shape: tuple[int, int],
    ) -> np.ndarray:
        """Where each cell of the perturbed input comes from (m, d): a row index below n.

        The first of the m rows is the query, which is intact.

        Args:
            row: Row number of the query in the table. It and the seed determine the random draws,
                so that predictions do not depend on which rows are predicted together.
            query: Row index of the query in the input.
            shape: Rows and columns (n, d) of the input.
        """
        n, d = shape
        others = np.delete(np.arange(n), query)
        generator = np.random.default_rng((seed, row))
        order = generator.permutation(len(others))
        count = round(self.share * len(others))
        if self.kind == "delete":
            kept = np.sort(order[min(count, len(others) - 1) :])
            rows = np.concatenate([[query], others[kept]])
            return np.repeat(rows[:, None], d, axis=1)
        rows = np.concatenate([[query], others])
        sources = np.repeat(rows[:, None], d, axis=1)
        chosen = order[:count]
        # The draws do not depend on the share: a larger one perturbs the same rows and more.
        permutations = generator.random((len(others), d))[:count].argsort(0)
        sources[1 + chosen] = others[chosen[permutations]]
        return sources
