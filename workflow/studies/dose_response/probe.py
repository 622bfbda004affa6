"""The test error as more and more of the other rows are shuffled, or deleted."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd

from npt.perturbation import KINDS, Perturbation
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts, ProbeResult


def probe(query: ProbeQuery) -> ProbeResult:
    """Scores for each fraction of the options, and those of a constant prediction."""
    unperturbed = query.perturbed(Perturbation("shuffle", 0.0))
    doses: dict[str, Facts] = {}
    arrays: dict[str, np.ndarray] = {}
    for kind in KINDS:
        fractions = getattr(query.options, kind)
        predictions = [unperturbed]
        for fraction in fractions[1:]:
            predictions.append(query.perturbed(Perturbation(kind, fraction)))
        scores = pd.DataFrame([query.score(values) for values in predictions])
        scores.insert(0, "share", fractions)
        doses[kind] = cast(Facts, scores.to_dict("list"))
        arrays[kind] = np.stack(predictions)
    return {"doses": doses, **query.score(query.constant(), "constant_")}, arrays
