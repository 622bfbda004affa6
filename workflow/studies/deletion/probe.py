"""Which rows a prediction needs, and how far they are (paper section 4.4, Appendix B.3.2)."""

from __future__ import annotations

import numpy as np

from npt.data.encoding import one_hot_features
from workflow.studies.deletion.algorithm import Search, deletions
from workflow.studies.query import ProbeQuery, mean_or_nan, rounded
from workflow.studies.study_kind import ProbeResult


def probe(query: ProbeQuery) -> ProbeResult:
    """The search for every probed row, and the distances to the rows that it keeps and deletes."""
    features = one_hot_features(query.table, query.row_probe.trained.statistics)
    results = deletions(query.row_probe, query.rows, query.options, query.seed)
    measured = np.array([distances(features, result, query.seed) for result in results])
    left = np.array([result.kept.mean() for result in results])
    lengths = np.array([len(result.context) for result in results])
    context = np.concatenate([result.context for result in results])
    kept = np.concatenate([result.kept for result in results])
    duplicates = np.repeat(query.rows, lengths) + query.table.rows  # of the lookup task
    partners = kept[context == duplicates]
    facts = {
        "context_rows": int(np.mean(lengths)),
        "passes": sum(result.passes for result in results),
        "left_share": float(left.mean()),
        "change": float(np.mean([result.change for result in results])),
        "partner_kept": float(partners.mean()) if len(partners) else None,
        "distances": {
            "kept": rounded(measured[:, 0]),
            "deleted": rounded(measured[:, 1]),
            "random": rounded(measured[:, 2]),
            "left": rounded(left),
        },
    }
    return facts, {"context": context, "kept": kept, "lengths": lengths, "distances": measured}


def distances(features: np.ndarray, result: Search, seed: int) -> list[float]:
    """Mean squared distance of the query to kept rows, deleted rows, and as many random rows.

    Args:
        features: Encoded and standardised features (N, F) of the table, without the target.

    Returns:
        Three means; NaN where a set is empty.
    """
    others = features[result.context % len(features)]
    squared = ((others - features[result.row]) ** 2).sum(1)
    generator = np.random.default_rng((seed, result.row, 1))
    kept = result.kept
    random = squared[generator.choice(len(squared), int(kept.sum()), replace=False)]
    return [mean_or_nan(values) for values in (squared[kept], squared[~kept], random)]
