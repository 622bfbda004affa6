"""Attention between datapoints: to which rows do the heads attend?

Paper Figures 3b, 4, B.1, B.2.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from workflow.studies.study_kind import Options, StudyKind


class AttentionOptions(Options):
    """Options of the attention maps.

    Attributes:
        bins: Bins of the other rows, from near to far, in a head's map.
    """

    bins: Annotated[int, Field(ge=2, le=200)] = 20


KIND = StudyKind(
    name="attention",
    title="To which datapoints do the heads attend?",
    order=7,
    tables=("attention",),
    figures=("attention", "pictures"),
    options=AttentionOptions,
    probes=True,
    needs_rows=True,
)
