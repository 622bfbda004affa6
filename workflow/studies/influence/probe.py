"""Certified, largest found and mean influence of other rows on the predictions of a trained NPT."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from npt.nn.influence import influence_bound
from npt.nn.lipschitz import ORDERS, Norm
from npt.nn.span import locate
from npt.nn.trained import QueryBatch, TrainedNPT, query_batches
from npt.perturbation import Perturbation
from workflow.studies.influence.search import CellRange, largest_influence
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

SOFTMAX_SLOPE = 0.5  # Lipschitz constant of a probability in the maximum norm of the logits


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Influences, and the scores of all test rows.

    In standard deviations of the train targets, or of the predicted class's probability. A bound
    is None where there is none.
    """
    trained = cast(TrainedNPT, query.model)
    options = query.options
    bounds: dict[Norm, list[float]] = {norm: [] for norm in ORDERS}
    largest: list[float] = []
    fractions: list[float] = []
    for batch in query_batches(trained, query.rows):
        changes = _largest_changes(trained, batch)
        for norm, of_batches in bounds.items():
            of_batches.append(_bound(trained, batch, changes, norm))
        fractions += _near_fractions(trained, batch)
        for index in batch.queries.tolist():
            largest.append(
                largest_influence(
                    trained,
                    batch,
                    index,
                    rows=options.rows,
                    steps=options.steps,
                )
            )
    facts: Facts = {
        "bound_maximum": _finite(max(bounds["maximum"])),
        "bound_euclidean": _finite(max(bounds["euclidean"])),
        "largest_influence": max(largest),
        "mean_influence": float(np.mean(largest)),
        "corruption": _corruption(trained, query),
    }
    sigmas = trained.model.spans()
    if sigmas:
        names = _feature_names(query, trained)
        facts["spans"] = {
            "column": names,
            **{f"block_{index}": sigma.tolist() for index, sigma in sigmas.items()},
        }
        facts["near_fraction"] = float(np.mean(fractions))
    return facts | query.test_scores(), {"influence": np.array(largest)}


def _corruption(trained: TrainedNPT, query: ProbeQuery) -> float:
    """Mean movement of the predictions when all other rows are permuted."""
    plain = trained.predict(query.rows).values
    corrupted = query.perturbed(Perturbation("shuffle", 1.0))
    moved = np.abs(corrupted - plain)
    if trained.task == "regression":
        return float(moved.mean() / trained.statistics.scale[trained.target])
    predicted_class = plain.argmax(1)
    of_class = np.take_along_axis(moved, predicted_class[:, None], axis=1)
    return float(of_class.mean())


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _largest_changes(trained: TrainedNPT, batch: QueryBatch) -> list[float]:
    """Of a cell of every column (d,), within the range of its visible cells."""
    widths = CellRange.of(batch.inputs).widths
    continuous = trained.data.continuous.tolist()
    changes = []
    for width, is_continuous in zip(widths.tolist(), continuous, strict=True):
        changes.append(width if is_continuous else 1.0)
    return changes


def _bound(
    trained: TrainedNPT,
    batch: QueryBatch,
    changes: list[float],
    norm: Norm,
) -> float:
    """Bound of what any other row can do by such changes."""
    rows, _ = batch.shape
    _, other = influence_bound(trained.model, rows, changes, norm)
    if trained.task == "regression" or math.isinf(other):
        return other
    return min(1.0, SOFTMAX_SLOPE * other)


def _near_fractions(trained: TrainedNPT, batch: QueryBatch) -> list[float]:
    """Fractions of the pairs of rows that blocks with a span attend to."""
    spans = [block.span for block in trained.model.blocks if block.span is not None]
    if not spans:
        return []
    located = locate(batch.inputs, trained.model.layout)
    return [span.near_fraction(located[0]) for span in spans]  # type: ignore[union-attr, operator]


def _feature_names(query: ProbeQuery, trained: TrainedNPT) -> list[str]:
    columns = query.table.columns
    return [column.name for j, column in enumerate(columns) if j != trained.target]
