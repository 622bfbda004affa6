"""Corruption of all other rows (paper section 4.3, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from npt.perturbation import Perturbation
from workflow.studies.query import ProbeQuery, drawn
from workflow.studies.study_kind import Facts

CONTROL_ROWS = 20


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Scores with the other rows intact, with each of their columns permuted, and of a control.

    The control is the same procedure with the identity permutation, for up to 20 rows.
    """
    clean = query.model.predict(query.rows).values
    corrupted = query.perturbed(Perturbation("shuffle", 1.0))
    control = query.with_rows(drawn(query.rows, CONTROL_ROWS, query.seed))
    unpermuted = control.perturbed(Perturbation("shuffle", 0.0))
    is_control = np.isin(query.rows, control.rows)
    facts = {
        **_named("clean", query.score(clean)),
        **_named("corrupted", query.score(corrupted)),
        **_named("control_clean", control.score(clean[is_control])),
        **_named("control", control.score(unpermuted)),
    }
    arrays = {
        "clean": clean,
        "corrupted": corrupted,
        "control_rows": control.rows,
        "control": unpermuted,
    }
    return facts, arrays


def _named(state: str, scores: dict[str, float]) -> Facts:
    return {f"{state}_{metric}": value for metric, value in scores.items()}
