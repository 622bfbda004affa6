"""Dependence and benefit: trained models are probed, and compared with their blind twins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from workflow.studies.benefit.information import PERMUTED
from workflow.studies.corruption.selection import Selection
from workflow.studies.study_kind import Options, StudyKind

if TYPE_CHECKING:
    from npt.method import Method


class BenefitOptions(Options):
    """How the other rows of a probed row are permuted.

    Attributes:
        permutations: Permutations of each probed row, over which scores are averaged.
    """

    permutations: Annotated[int, Field(ge=1)] = 1

    @property
    def selections(self) -> list[Selection]:
        """Cells of the other rows that are permuted."""
        return list(PERMUTED)


class Benefit(StudyKind):
    """A kind that probes base runs, and trains the twins that they are compared with."""

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Refuses the lookup task, whose answer no twin can know."""
        if settings.get("lookup", "off") != "off":
            return "trained on the lookup task, whose answer is in other rows alone"
        return None

    def variants_of(
        self, method: Method, options: BenefitOptions
    ) -> Mapping[str, Mapping[str, Any]]:
        """The declared twins."""
        return method.twins


KIND = Benefit(
    name="benefit",
    title="Do predictions benefit from the other rows that they depend on?",
    order=5,
    options=BenefitOptions,
    probes=True,
    trains_variants=True,
)
