"""Predictions of a trained model from a share of the train rows."""

from __future__ import annotations

import numpy as np

from npt.probing import RowProbe
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Scores for each share, those of a constant, and those with all rows over all test rows.

    The rows of a share are the same for all queries, and those that variants are trained on.
    Validation and test rows of a context stay in it.
    """
    split = query.split
    shares = query.options.shares
    rows = []
    predictions = []
    scores: dict[str, list[float]] = {}
    for share in shares:
        left = split.drawn_train_rows(share)
        rows.append(len(left))
        removed = np.setdiff1d(split.train, left)
        values = predicted_without(query.row_probe, query.rows, removed)
        predictions.append(values)
        of_share = query.score(values)
        for metric, score in of_share.items():
            scores.setdefault(metric, []).append(score)
    contexts = {
        "share": shares,
        "rows": rows,
        **scores,
    }
    facts: Facts = {"contexts": contexts}
    constant = query.score(query.constant())
    for metric, score in constant.items():
        facts[f"constant_{metric}"] = score
    facts |= query.test_scores()
    return facts, {"predictions": np.stack(predictions)}


def predicted_without(probe: RowProbe, rows: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """Predictions of the rows, in their order, by contexts without some rows of the table."""
    by_row: dict[int, np.ndarray] = {}
    for group in probe.query_groups(rows):
        kept = []
        for context in group.contexts:
            is_left = ~np.isin(context, removed)
            if not is_left.any():
                is_left[0] = True  # a prediction takes a row at least
            kept.append(np.flatnonzero(is_left))
        everything = range(len(group.rows))
        predictions = group.predict(everything, kept)
        numbers = group.rows.tolist()
        by_row.update(zip(numbers, predictions, strict=True))
    in_order = [by_row[row] for row in rows.tolist()]
    return np.stack(in_order)
