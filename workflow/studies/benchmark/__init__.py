"""Benchmark: how good are the methods (paper Tables 1 and 6 to 11)?"""

from workflow.studies.study_kind import StudyKind

KIND = StudyKind(
    name="benchmark",
    title="How good are the methods?",
    order=4,
    tables=(
        "scores",
        "metrics",
        "ranks",
        "rank_tests",
        "win_rates",
        "fold_tests",
        "published",
        "cost",
        "bencheval",
    ),
    first_table="scores",
    figures=("metrics", "ranks", "critical_difference", "cost", "curves"),
)
