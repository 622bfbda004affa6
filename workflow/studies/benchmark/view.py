"""How a benchmark is shown."""

from workflow.report.cost import cost
from workflow.report.rank_tests import refusal
from workflow.report.ranks import FEWEST_RANKED, primary_summary, rank_matrix
from workflow.studies.benchmark.curves import curves
from workflow.studies.benchmark.figures import critical_difference, ranks
from workflow.studies.benchmark.scores import scores, scores_answer
from workflow.studies.benchmark.tables import metrics, published
from workflow.studies.benchmark.tables import ranks as ranks_table
from workflow.studies.view import Card, View

VIEW = View(
    tables={
        "scores": scores,
        "metrics": metrics,
        "ranks": ranks_table,
        "published": published,
        "cost": cost,
    },
    figures={"ranks": ranks, "critical_difference": critical_difference, "curves": curves},
    card=Card(
        "How accurate?",
        "scores",
        answer=scores_answer,
        figures=("ranks", "critical_difference"),
    ),
    optional={
        "ranks": lambda study, scoring: (
            study.groupby("task")["dataset"].nunique().max() >= FEWEST_RANKED
        ),
        "critical_difference": lambda study, scoring: (
            not refusal(rank_matrix(primary_summary(study, scoring)))
        ),
    },
)
