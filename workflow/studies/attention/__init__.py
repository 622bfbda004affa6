"""Attention between datapoints: to which rows do the heads attend?

Paper Figures 3b, 4, B.1, B.2.
"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="attention",
    title="Which rows matter?",
    order=7,
    probes=True,
    needs_rows=True,
)
