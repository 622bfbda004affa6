"""Predictions of a trained model from a share of the train rows."""

from __future__ import annotations

from typing import cast

import numpy as np

from npt.interface import ReducibleModel
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Scores for each share, and those of a constant prediction.

    The rows of a share are the same for all queries, and those that variants are trained on.
    Validation and test rows of a context stay in it.
    """
    model = cast(ReducibleModel, query.model)
    shares = query.options.shares
    predictions = []
    scores: dict[str, list[float]] = {}
    for share in shares:
        left = query.split.drawn_train_rows(share)
        removed = np.setdiff1d(query.split.train, left)
        values = predicted_without(model, query.rows, removed)
        predictions.append(values)
        for metric, score in query.score(values).items():
            scores.setdefault(metric, []).append(score)
    rows = [len(query.split.drawn_train_rows(share)) for share in shares]
    facts: Facts = {"contexts": {"share": shares, "rows": rows, **scores}}
    for metric, score in query.score(query.constant()).items():
        facts[f"constant_{metric}"] = score
    return facts, {"predictions": np.stack(predictions)}


def predicted_without(model: ReducibleModel, rows: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """Predictions of the rows, in their order, by contexts without some rows of the table."""
    by_row: dict[int, np.ndarray] = {}
    for group in model.query_groups(rows):
        kept = []
        for context in group.contexts:
            kept.append(np.flatnonzero(~np.isin(context, removed)))
        predictions = group.predict(range(len(group.rows)), kept)
        by_row.update(zip(group.rows.tolist(), predictions, strict=True))
    return np.stack([by_row[row] for row in rows.tolist()])
