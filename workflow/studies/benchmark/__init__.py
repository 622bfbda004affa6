"""Benchmark: how good are the methods (paper Tables 1 and 6 to 11)?"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="benchmark",
    title="How good are the methods?",
    order=4,
    tables=("ranks", "rank_tests", "metrics", "fold_tests", "published", "cost"),
    figures=("ranks", "critical_difference", "metrics", "cost"),
)
