"""Which rows a prediction needs, and how far they are (paper section 4.4, Appendix B.3.2)."""

from __future__ import annotations

import numpy as np

from npt.data.encoding import one_hot_features
from workflow.studies.deletion.algorithm import Deletion, deletions
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """The search for every probed row, and the distances to the rows that it keeps and deletes."""
    features = one_hot_features(query.table, query.row_probe.trained.statistics)
    results = deletions(query.row_probe, query.rows, query.options, query.seed)
    measured = []
    for result in results:
        measured.append(distances(features, result, query.seed))
    kept, deleted, random = np.array(measured).T
    left = np.array([result.kept.mean() for result in results])
    lengths = np.array([len(result.kept) for result in results])
    changes = [result.change for result in results]
    facts = {
        "context_rows": int(np.mean(lengths)),
        "passes": sum(result.passes for result in results),
        "left_share": float(left.mean()),
        "change": float(np.mean(changes)),
        "partner_kept": _duplicates_kept(results, query.table.rows),
        "distances": {
            "kept": rounded(kept),
            "deleted": rounded(deleted),
            "random": rounded(random),
            "left": rounded(left),
        },
    }
    arrays = {
        "context": np.concatenate([result.context for result in results]),
        "kept": np.concatenate([result.kept for result in results]),
        "lengths": lengths,
        "distances": np.array(measured),
    }
    return facts, arrays


def _duplicates_kept(results: list[Deletion], table_rows: int) -> float | None:
    """Fraction of queries that keep their own duplicate; None outside the lookup task."""
    kept = []
    for result in results:
        is_duplicate = result.context == table_rows + result.row
        kept += list(result.kept[is_duplicate])
    return float(np.mean(kept)) if kept else None


def distances(
    features: np.ndarray,
    result: Deletion,
    seed: int,
) -> tuple[float, float, float]:
    """Mean squared distance of the query to kept rows, deleted rows, and as many random rows.

    Args:
        features: Encoded and standardised features (N, F) of the table, without the target.

    Returns:
        Three means; NaN where a set is empty.
    """
    others = features[result.context % len(features)]
    squared = ((others - features[result.row]) ** 2).sum(1)
    generator = np.random.default_rng((seed, result.row, 1))
    count = int(result.kept.sum())
    random = generator.choice(len(squared), count, replace=False)
    return (
        _mean(squared[result.kept]),
        _mean(squared[~result.kept]),
        _mean(squared[random]),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
