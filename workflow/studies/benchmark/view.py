"""How a benchmark is shown."""

from workflow.report.cost import cost as cost_table
from workflow.studies.benchmark.bencheval import bencheval
from workflow.studies.benchmark.curves import curves, has_curves
from workflow.studies.benchmark.figures import cost, critical_difference, metrics, ranks
from workflow.studies.benchmark.scores import scores
from workflow.studies.benchmark.significance import fold_tests, rank_tests
from workflow.studies.benchmark.tables import metrics as metrics_table
from workflow.studies.benchmark.tables import published
from workflow.studies.benchmark.tables import ranks as ranks_table
from workflow.studies.benchmark.win_rates import win_rates
from workflow.studies.view import Card, View

VIEW = View(
    tables=(
        scores,
        metrics_table,
        ranks_table,
        rank_tests,
        win_rates,
        fold_tests,
        published,
        cost_table,
        bencheval,
    ),
    figures=(metrics, ranks, critical_difference, cost, curves),
    card=Card("How accurate are the models?", scores),
    optional={
        "ranks": lambda study, scoring: bool(ranks_table(study, scoring).sections),
        "critical_difference": lambda study, scoring: bool(rank_tests(study, scoring).sections),
        "curves": lambda study, scoring: has_curves(study),
    },
)
