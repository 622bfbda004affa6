"""A selection of the cells that are permuted."""

from __future__ import annotations

from dataclasses import dataclass

from npt.perturbation import ColumnChoice, Perturbation, RowChoice


@dataclass(frozen=True)
class Selection:
    """Some columns of some of the other rows."""

    columns: ColumnChoice
    rows: RowChoice

    @property
    def name(self) -> str:
        """Beginning of the names of the selection's columns and arrays."""
        if self == EVERYTHING:
            return "corrupted"
        return f"corrupted_{self.columns}_{self.rows}"

    def permuted(self, draw: int) -> Perturbation:
        """One of the permutations of these cells."""
        return Perturbation("shuffle", 1.0, self.columns, self.rows, draw)


EVERYTHING = Selection("all", "all")  # the paper's corruption
