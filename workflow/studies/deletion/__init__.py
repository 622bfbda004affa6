"""Data deletion: which rows does a prediction need?

Paper section 4.4, Appendix B.3.2, Algorithm 2.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from workflow.studies.study_kind import Options, StudyKind


class DeletionOptions(Options):
    """Constants of Algorithm 2; the defaults are those of the paper's standard run.

    The strict run has `tolerance: 0.005` and `left: 0.01`.

    Attributes:
        tolerance: First bound, exclusive, of the change of the prediction by all deletions.
        limit: The search ends at a deletion within the tolerance that changes the prediction by
            this much or more.
        growth: Factor of the tolerance after `retries` rejected deletions in succession.
        left: The search ends when a smaller fraction of the rows remains.
    """

    tolerance: Annotated[float, Field(ge=1e-6)] = 0.01
    limit: float = 0.1
    growth: Annotated[float, Field(ge=1.001)] = 1.1
    retries: Annotated[int, Field(ge=1, le=10_000)] = 50
    left: Annotated[float, Field(gt=0, lt=1)] = 0.02

    @model_validator(mode="after")
    def _tolerance_within_limit(self) -> Self:
        if self.tolerance > self.limit:
            raise ValueError(f"tolerance {self.tolerance:g} is above the limit {self.limit:g}")
        return self


KIND = StudyKind(
    name="deletion",
    title="Which rows matter?",
    order=6,
    options=DeletionOptions,
    probes=True,
    needs_rows=True,
)
