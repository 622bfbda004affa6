"""Result of a study of curves in sentences."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import formatted
from workflow.report.titles import method_title
from workflow.studies.curves.tables import TITLES, by_seed
from workflow.studies.sentences import NOT_PROBED

KERNEL = "rbf"


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """Log-likelihoods of the targets on curves of the training's kernel, the best first."""
    tidy = by_seed(study)
    if tidy.empty:
        return NOT_PROBED
    targets = tidy[(tidy["kernel"] == KERNEL) & (tidy["part"] == "target")]
    means = targets.groupby(["method", "variant"], sort=False)["log_likelihood"].mean()
    best_first = means.sort_values(ascending=False)
    clauses = []
    for (method, variant), mean in best_first.items():  # type: ignore[misc]
        clauses.append(f"{method_title(method, variant)} {formatted(mean, 3)}")
    ceiling = formatted(targets["ceiling"].mean(), 3)
    return (
        f"Mean log density of a target on held-out {TITLES[KERNEL]} curves, in nats: "
        f"{', '.join(clauses)}; the exact posterior {ceiling}."
    )
