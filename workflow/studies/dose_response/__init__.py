"""Dose response: the test error as more and more of the other rows are shuffled, or deleted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from workflow.studies.study_kind import Options, Share, StudyKind, in_order

FROM_0 = in_order("ascending fractions that begin with 0", 0)


class DoseResponseOptions(Options):
    """Fractions of the other rows, ascending from 0, which is the unperturbed prediction.

    Attributes:
        shuffle: Fractions whose columns are permuted.
        delete: Fractions that are left out.
    """

    shuffle: Annotated[list[Annotated[Share, Field(ge=0, le=1)]], FROM_0] = Field(
        default=[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    )
    delete: Annotated[list[Annotated[Share, Field(ge=0, le=0.999)]], FROM_0] = Field(
        default=[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    )


KIND = StudyKind(
    name="dose_response",
    title="Do predictions depend on other rows?",
    order=2,
    options=DoseResponseOptions,
    probes=True,
)
