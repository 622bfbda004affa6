"""Influence: how far can one row move the prediction of another?

Attention by tied distances has a Lipschitz constant (Kim et al. 2021), so that a network without
LayerNorm has a certificate: no change of the visible cells of one row within the range of their
columns moves another's prediction further. It is compared with the largest movement that a search
finds, and with the mean one under corruption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from workflow.results.row import LINEAR
from workflow.studies.study_kind import Options, StudyKind

if TYPE_CHECKING:
    from npt.method import Method


class InfluenceOptions(Options):
    """The search for the largest influence.

    Attributes:
        rows: Other rows that are changed, one at a time, of each probed row: those with the
            largest gradients.
        steps: Steps of an ascent.
    """

    rows: int = Field(default=2, ge=1, le=1000)
    steps: int = Field(default=12, ge=1, le=10_000)


class Influence(StudyKind):
    """A kind for NPT, whose gradients and bounds it takes."""

    def accepts(self, method: Method) -> bool:
        """NPT alone."""
        return method.name == "npt"

    def refuse(self, settings: Any, options: Any) -> str | None:
        """Refuses the lookup task, and images that are encoded before they attend."""
        if settings.get("lookup", "off") != "off":
            return "trained on the lookup task, whose other rows are duplicates"
        encoder = settings.get("encoder", LINEAR)
        if encoder != LINEAR:
            return f"encoder {encoder} has no bound; allowed: {LINEAR}"
        return None

    def forward_passes(self, options: InfluenceOptions) -> float:
        """Two ascents in two directions, whose steps cost four passes; no swaps of classes."""
        return 16.0 * options.rows * options.steps


KIND = Influence(
    name="influence",
    title="How far can one row move another's prediction?",
    order=10,
    tables=("influence",),
    figures=("influence",),
    options=InfluenceOptions,
    probes=True,
)
