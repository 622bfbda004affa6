"""Benchmark: how good are the methods (paper Tables 1 and 6 to 11)?"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="benchmark",
    title="How accurate?",
    order=0,
)
