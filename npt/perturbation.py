"""Perturbations of the other rows of a query row (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from npt.table import PARTS, Part

Kind = Literal["shuffle", "delete"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ColumnChoice = Literal["all", "features", "target"]
RowChoice = Literal["all", Part]


@dataclass(frozen=True)
class InputLayout:
    """What the rows and columns of an input (n, d) are.

    Attributes:
        parts: Part (n,) of every row, as an index of `PARTS`.
        columns: Number of columns, d.
        target: Index of the target column; None without one.
    """

    parts: np.ndarray
    columns: int
    target: int | None


@dataclass(frozen=True)
class Perturbation:
    """A random share of the other rows is perturbed, drawn for each query row.

    A larger share perturbs the rows of a smaller one and more. A share of 0 changes nothing: the
    control.

    Attributes:
        kind: `shuffle` permutes every column over the chosen rows, each by its own permutation; a
            share of 1 is the paper's Algorithm 1. `delete` removes the chosen rows.
        columns: Columns that are permuted.
        rows: Part of the table to which the permuted rows belong.
        draw: Number of the random draws. Each permutes the rows anew.
    """

    kind: Kind
    share: float
    columns: ColumnChoice = "all"
    rows: RowChoice = "all"
    draw: int = 0

    def chosen_columns(self, layout: InputLayout) -> np.ndarray:
        """Indices of the columns that are permuted."""
        every = np.arange(layout.columns)
        is_target = every == layout.target
        if self.columns == "target":
            return every[is_target]
        if self.columns == "features":
            return every[~is_target]
        return every

    def chosen_rows(self, layout: InputLayout) -> np.ndarray:
        """Which rows (n,) can be perturbed, apart from the query."""
        if self.rows == "all":
            return np.ones(len(layout.parts), np.bool_)
        return layout.parts == PARTS.index(self.rows)

    def sources(
        self,
        seed: int,
        row: int,
        layout: InputLayout,
    ) -> np.ndarray:
        """Where each cell of the perturbed input comes from (m, d): a row index below n.

        The first row of the input is the query, which is intact. Deletion leaves whole rows (m, 1).

        Args:
            row: Row number of the query in the table. It, the seed and the number of the draws
                determine them, so that predictions do not depend on which rows are predicted
                together.
        """
        others = np.arange(1, len(layout.parts))
        draw = (self.draw,) if self.draw else ()
        generator = np.random.default_rng((seed, row, *draw))
        order = generator.permutation(len(others))
        order = order[self.chosen_rows(layout)[others[order]]]
        count = round(self.share * len(order))
        if self.kind == "delete":
            deleted = order[: min(count, len(others) - 1)]
            return np.append(0, np.delete(others, deleted))[:, None]
        sources = np.repeat(np.arange(len(layout.parts))[:, None], layout.columns, axis=1)
        chosen = order[:count]
        # The draws do not depend on the share: a larger one perturbs the same rows and more.
        keys = generator.random((len(others), layout.columns))[:count]
        columns = self.chosen_columns(layout)
        permutations = keys[:, columns].argsort(0)
        sources[1 + chosen[:, None], columns] = others[chosen[permutations]]
        return sources
