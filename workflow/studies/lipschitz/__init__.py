"""Lipschitz: how tight are the bounds of attention, and does contraction invert?

The experiments of Kim, Papamakarios and Mnih (2021, section 4): the largest Jacobian beside its
bound, dot products that have none, and inversion by fixed-point iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from npt.nn.settings import TIED_KERNELS, NPTSettings
from workflow.studies.study_kind import Options, StudyKind

if TYPE_CHECKING:
    from npt.method import Method

Contraction = Annotated[float, Field(gt=0, lt=1)]


class LipschitzOptions(Options):
    """Sizes of the experiments.

    Attributes:
        positions: Numbers of positions of the tightness curve, ascending.
        restarts: Starts of the ascent for each number, of which the best is kept.
        steps: Steps of an ascent.
        contractions: Factors c of the inverted maps x + c attention(x) / bound.
        iterations: Iterations of an inversion.
    """

    positions: list[Annotated[int, Field(ge=2, le=100_000)]] = Field(
        default=[2, 4, 8, 16, 32, 64, 128, 256, 1000]
    )
    restarts: int = Field(default=50, ge=1, le=10_000)
    steps: int = Field(default=2000, ge=1, le=10**6)
    contractions: list[Contraction] = Field(default=[0.5, 0.7, 0.9])
    iterations: int = Field(default=40, ge=1, le=10**6)

    @field_validator("positions", "contractions")
    @classmethod
    def _ascending(cls, values: list[float]) -> list[float]:
        if not values or values != sorted(set(values)):
            raise ValueError(f"{values} are not ascending")
        return values


class Lipschitz(StudyKind):
    """A kind for NPT with tied distances."""

    def accepts(self, method: Method) -> bool:
        """NPT alone."""
        return method.name == "npt"

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Refuses kernels without a bound."""
        kernel = settings["kernel"]
        if kernel not in TIED_KERNELS:
            allowed = ", ".join(TIED_KERNELS)
            return f"kernel {kernel} has no bound; allowed: {allowed}"
        if not NPTSettings(**settings).attends_to_others:
            return "has no attention to other rows"
        return None

    def forward_passes(self, options: LipschitzOptions) -> None:
        """Hardly any of the network: attention alone is examined."""
        return None


KIND = Lipschitz(
    name="lipschitz",
    title="How tight are the bounds of attention?",
    order=13,
    tables=("lipschitz",),
    figures=("tightness", "inversion"),
    options=LipschitzOptions,
    probes=True,
)
