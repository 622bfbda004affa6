"""Dose response: the test error as more and more of the other rows are shuffled, or deleted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from workflow.studies.study_kind import Options, Share, StudyKind


class DoseResponseOptions(Options):
    """Fractions of the other rows, ascending from 0, which is the unperturbed prediction.

    Attributes:
        shuffle: Fractions whose columns are permuted.
        delete: Fractions that are left out.
    """

    shuffle: list[Annotated[Share, Field(ge=0, le=1)]] = Field(
        default=[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    )
    delete: list[Annotated[Share, Field(ge=0, le=0.999)]] = Field(
        default=[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    )

    @field_validator("shuffle", "delete")
    @classmethod
    def _ascending_from_zero(cls, fractions: list[float]) -> list[float]:
        if fractions[:1] != [0.0] or fractions != sorted(set(fractions)):
            raise ValueError(f"{fractions} are not ascending fractions that begin with 0")
        return fractions


KIND = StudyKind(
    name="dose_response",
    title="Do predictions depend on other rows?",
    order=2,
    options=DoseResponseOptions,
    probes=True,
)
