"""Predictions of a trained model from a share of the train rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.probing import RowProbe
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts, ProbeResult


def probe(query: ProbeQuery) -> ProbeResult:
    """Scores for each share, those of a constant, and those with all rows over all test rows.

    The rows of a share are the same for all queries, and those that variants are trained on.
    Validation and test rows of a context stay in it.
    """
    split = query.split
    contexts = []
    predictions = []
    for share in query.options.shares:
        left = split.drawn_train_rows(share)
        removed = np.setdiff1d(split.train, left)
        predictions.append(predicted_without(query.row_probe, query.rows, removed))
        contexts.append({"share": share, "rows": len(left), **query.score(predictions[-1])})
    facts: Facts = {
        "contexts": pd.DataFrame(contexts).to_dict("list"),
        **query.score(query.constant(), "constant_"),
        **query.test_scores(),
    }
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
        predictions = group.predict(range(len(group.rows)), kept)
        by_row.update(zip(group.rows.tolist(), predictions, strict=True))
    return np.stack([by_row[row] for row in rows.tolist()])
