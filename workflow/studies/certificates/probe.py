"""Certified, largest found and mean influence of other rows on the predictions of a trained NPT."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import torch

from npt.nn.influence import influence_bound
from npt.nn.lipschitz import ORDERS, Norm
from npt.nn.trained import QueryBatch, TrainedNPT, query_batches
from npt.perturbation import Perturbation
from workflow.studies.certificates.search import cell_range, largest_influence
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts, ProbeResult

SOFTMAX_SLOPE = 0.5  # Lipschitz constant of a probability in the maximum norm of the logits


def probe(query: ProbeQuery) -> ProbeResult:
    """Influences, and the scores of all test rows.

    In standard deviations of the train targets, or of the predicted class's probability. A bound
    is None where there is none.
    """
    trained = cast(TrainedNPT, query.probe.trained)
    batches = list(query_batches(trained, query.rows))
    facts: Facts = {}
    for norm in ORDERS:
        bound = max(_certificate(trained, batch, norm) for batch in batches)
        facts[f"bound_{norm}"] = bound if math.isfinite(bound) else None
    size = query.options.model_dump()
    largest = []
    for batch in batches:
        for index in batch.queries.tolist():
            largest.append(largest_influence(trained, batch, index, **size))
    facts |= {
        "largest_influence": max(largest),
        "mean_influence": float(np.mean(largest)),
        "corruption": _corruption(trained, query),
    }
    return facts | query.test_scores(), {"influence": np.array(largest)}


def _corruption(trained: TrainedNPT, query: ProbeQuery) -> float:
    """Mean movement of the predictions when all other rows are permuted."""
    plain = trained.predict(query.rows).values
    corrupted = query.perturbed(Perturbation("shuffle", 1.0))
    moved = np.abs(corrupted - plain)
    if trained.task == "regression":
        return float(moved.mean() / trained.statistics.scale[trained.target])
    return float(moved[np.arange(len(moved)), plain.argmax(1)].mean())


def _certificate(trained: TrainedNPT, batch: QueryBatch, norm: Norm) -> float:
    """Bound of what changes of another row's cells within their columns' ranges can do."""
    lowest, highest = cell_range(batch.inputs)
    changes = torch.where(trained.data.continuous, highest - lowest, 1.0).tolist()
    _, by_other = influence_bound(trained.model, batch.shape[0], changes, norm)
    if trained.task == "regression" or math.isinf(by_other):
        return by_other
    return min(1.0, SOFTMAX_SLOPE * by_other)
