"""Certificates: how far can one row move another's prediction, and how tight are the bounds?

Attention by tied distances has a Lipschitz constant (Kim, Papamakarios and Mnih 2021), so that a
network without LayerNorm has a certificate: no change of the visible cells of one row within the
range of their columns moves another's prediction further. `influence` compares it with the largest
movement that a search finds, and with the mean one under corruption. `bounds` repeats the
experiments of their section 4: the largest Jacobian and its bound, dot products that have none, and
inversion by fixed-point iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator

from npt.nn.settings import TIED_KERNELS, NPTSettings
from workflow.results.row import LINEAR
from workflow.studies.study_kind import Options, StudyKind

if TYPE_CHECKING:
    from npt.method import Method

Contraction = Annotated[float, Field(gt=0, lt=1)]


class CertificatesOptions(Options):
    """Sizes of the searches and experiments.

    Attributes:
        measure: What is probed.
        rows: Of influence, other rows that are changed, one at a time, of each probed row: those
            with the largest gradients.
        steps: Of influence, steps of an ascent.
        positions: Of bounds, numbers of positions on a line, ascending.
        restarts: Of bounds, starts of the ascent for each number, of which the best is kept.
        line_steps: Of bounds, steps of an ascent.
        contractions: Of bounds, factors c of the inverted maps x + c attention(x) / bound.
        iterations: Of bounds, iterations of an inversion.
    """

    measure: Literal["influence", "bounds"] = "influence"
    rows: int = Field(default=2, ge=1, le=1000)
    steps: int = Field(default=12, ge=1, le=10_000)
    positions: list[Annotated[int, Field(ge=2, le=100_000)]] = Field(
        default=[2, 4, 8, 16, 32, 64, 128, 256, 1000]
    )
    restarts: int = Field(default=50, ge=1, le=10_000)
    line_steps: int = Field(default=2000, ge=1, le=10**6)
    contractions: list[Contraction] = Field(default=[0.5, 0.7, 0.9])
    iterations: int = Field(default=40, ge=1, le=10**6)

    @field_validator("positions", "contractions")
    @classmethod
    def _ascending(cls, values: list[float]) -> list[float]:
        if not values or values != sorted(set(values)):
            raise ValueError(f"{values} are not ascending")
        return values


class Certificates(StudyKind):
    """A kind for NPT, whose gradients and bounds it takes."""

    def accepts(self, method: Method) -> bool:
        """NPT alone."""
        return method.name == "npt"

    def refuse(self, settings: Mapping[str, Any], options: CertificatesOptions) -> str | None:
        """Refuses what has no bound; of influence, the lookup task and encoded images."""
        if options.measure == "bounds":
            if settings["kernel"] not in TIED_KERNELS:
                return (
                    f"kernel {settings['kernel']} has no bound; allowed: {', '.join(TIED_KERNELS)}"
                )
            if not NPTSettings(**settings).attends_to_others:
                return "has no attention to other rows"
            return None
        if settings.get("lookup", "off") != "off":
            return "trained on the lookup task, whose other rows are duplicates"
        encoder = settings.get("encoder", LINEAR)
        return None if encoder == LINEAR else f"encoder {encoder} has no bound; allowed: {LINEAR}"


KIND = Certificates(
    name="certificates",
    title="How far can one row move another's prediction?",
    order=10,
    tables=("influence", "bounds"),
    figures=("influence", "tightness", "inversion"),
    options=CertificatesOptions,
    probes=True,
)
