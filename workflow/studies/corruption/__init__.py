"""Corruption of the other rows (paper section 4.3, Algorithm 1, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from npt.perturbation import ColumnChoice, Perturbation, RowChoice
from workflow.config.fields import DistinctItems
from workflow.results.row import LINEAR
from workflow.studies.study_kind import Options, StudyKind

Permutations = Annotated[int, Field(ge=1, le=10_000)]


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


class CorruptionOptions(Options):
    """Cells of the other rows that are permuted: a result for each of `columns` and `rows`.

    The defaults are the paper's.

    Attributes:
        columns: Columns that are permuted.
        rows: Rows among which they are permuted, by their part.
        permutations: Permutations of each probed row, over which scores are averaged.
    """

    columns: DistinctItems[ColumnChoice] = ("all",)
    rows: DistinctItems[RowChoice] = ("all",)
    permutations: Permutations = 1

    @property
    def selections(self) -> list[Selection]:
        """Every one of the columns with every one of the rows."""
        return [Selection(columns, rows) for columns in self.columns for rows in self.rows]


class Corruption(StudyKind):
    """A kind that changes cells of the other rows."""

    def refuse(self, settings: Mapping[str, Any], options: CorruptionOptions) -> str | None:
        """Refuses some columns of encoded images, which have one vector and show no label."""
        encoder = settings.get("encoder", LINEAR)
        for columns in options.columns:
            if encoder != LINEAR and columns != "all":
                return f"columns: {columns} of images with encoder {encoder}; allowed: all"
        return None


KIND = Corruption(
    name="corruption",
    title="Do predictions depend on other rows?",
    order=1,
    options=CorruptionOptions,
    probes=True,
)
