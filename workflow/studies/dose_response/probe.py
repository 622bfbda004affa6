"""The test error as more and more of the other rows are shuffled, or deleted."""

from __future__ import annotations

import numpy as np

from npt.perturbation import KINDS, Perturbation
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Scores for each fraction of the options, and those of a constant prediction."""
    unperturbed = query.perturbed(Perturbation("shuffle", 0.0))
    doses: dict[str, Facts] = {}
    arrays: dict[str, np.ndarray] = {}
    for kind in KINDS:
        fractions = getattr(query.options, kind)
        predictions = [unperturbed]
        for fraction in fractions[1:]:
            perturbation = Perturbation(kind, fraction)
            predictions.append(query.perturbed(perturbation))
        scores = _by_metric(query, predictions)
        doses[kind] = {"share": fractions, **scores}
        arrays[kind] = np.stack(predictions)
    facts: Facts = {"doses": doses}
    constant = query.score(query.constant())
    for metric, score in constant.items():
        facts[f"constant_{metric}"] = score
    return facts, arrays


def _by_metric(query: ProbeQuery, predictions: list[np.ndarray]) -> dict[str, list[float]]:
    """The scores of all predictions for each metric."""
    scores: dict[str, list[float]] = {}
    for values in predictions:
        of_values = query.score(values)
        for metric, score in of_values.items():
            scores.setdefault(metric, []).append(score)
    return scores
