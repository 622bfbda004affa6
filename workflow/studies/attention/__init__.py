"""Attention between datapoints: to which rows do the heads attend?

Paper Figures 3b, 4, B.1, B.2.
"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="attention",
    title="To which datapoints do the heads attend?",
    order=7,
    probes=True,
    needs_rows=True,
)
