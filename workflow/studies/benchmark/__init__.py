"""Benchmark: how good are the methods (paper Tables 1 and 6 to 11)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workflow.studies.study_kind import StudyKind

if TYPE_CHECKING:
    import pandas as pd

    from workflow.config.scoring import Scoring


class Benchmark(StudyKind):
    """Figures of ranks need some datasets."""

    def shown_figures(self, study: pd.DataFrame, scoring: Scoring) -> tuple[str, ...]:
        """Ranks where a task has datasets enough for a mean, the diagram where there is a test."""
        from workflow.studies.benchmark.curves import has_curves

        shown = []
        tables_of_ranks = {"ranks": "ranks", "critical_difference": "rank_tests"}
        for figure in self.figures:
            if figure == "curves" and not has_curves(study):
                continue
            table = tables_of_ranks.get(figure)
            if table is None or self.table(table, study, scoring).sections:
                shown.append(figure)
        return tuple(shown)


KIND = Benchmark(
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
