"""Result of a study of completion in a sentence."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import method_title
from workflow.studies.completion.tables import by_seed
from workflow.studies.completion.tasks import RANDOM, TITLES
from workflow.studies.sentences import NOT_PROBED

TASK = f"random_{RANDOM[-1]}"


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """RMSE of the hidden pixels from the most random pixels, the best first."""
    tidy = by_seed(study)
    if tidy.empty:
        return NOT_PROBED
    of_task = tidy[tidy["task"] == TASK]
    means = of_task.groupby(["method", "variant"], sort=False)["rmse"].mean()
    clauses = []
    for (method, variant), mean in means.sort_values().items():  # type: ignore[misc]
        clauses.append(f"{method_title(method, variant)} {formatted(mean, 3)}")
    reference = formatted(of_task["reference_rmse"].mean(), 3)
    return (
        f"RMSE of a hidden pixel from {TITLES[TASK]}: {', '.join(clauses)}; "
        f"the mean of the training images {reference}."
    )
