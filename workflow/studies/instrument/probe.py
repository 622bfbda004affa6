"""Probes of models whose answer is known: what they should find, and what they find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import cast

import numpy as np

from baselines.knn import DEFAULTS
from baselines.stored_rows import StoredRows
from baselines.trained import TrainedBaseline, TrainedRowModel
from npt.perturbation import Perturbation
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.algorithm import deletions
from workflow.studies.query import ProbeQuery, drawn
from workflow.studies.study_kind import Facts

TINY = 1e-9  # tolerance of a deletion, as a fraction of the prediction: no change at all
LARGEST = 1 - 1e-9  # fraction of the rows at which a deletion may end
DERIVATIVES = 50  # stored rows whose targets are moved
STEP = 1.0  # by which a stored target is moved, in standard deviations

Measured = dict[str, float]


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """What is measured of a model, by the names of `tables.CHECKS`."""
    model = cast(TrainedBaseline, query.model)
    checks = {**_control(query), **CHECKS_OF[model.baseline.name](query)}
    return {"checks": checks}, {}


def _control(query: ProbeQuery) -> Measured:
    """Largest movement under the identity permutation."""
    return {"control": _movement(query, Perturbation("shuffle", 0.0))}


def _constant(query: ProbeQuery) -> Measured:
    """Skill over a constant, and what is lost of it when all other rows are permuted."""
    predictions = query.probe.predict(query.rows)
    constant = query.score(query.constant())["rmse"]
    skill = constant - query.score(predictions)["rmse"]
    return {"skill": skill / constant, **_of_no_row(query)}


def _of_no_row(query: ProbeQuery) -> Measured:
    """Largest movement when every other row is permuted."""
    return {"movement": _movement(query, Perturbation("shuffle", 1.0))}


def _of_neighbours(query: ProbeQuery) -> Measured:
    """What deletion keeps against the nearest rows, which are found anew from the features."""
    model = cast(TrainedRowModel, query.model)
    precision = []
    recall = []
    for row in query.rows:
        needed = _needed_rows(model, int(row))
        fraction = (len(needed) + 1) / (len(model.data.train) + 1)
        options = DeletionOptions(
            tolerance=TINY,
            left=min(fraction, LARGEST),
        )
        (deletion,) = deletions(query.row_probe, np.array([row]), options, query.seed)
        kept = np.flatnonzero(deletion.kept)
        found = _in_both(model.data.train_labels, kept, needed)
        precision.append(found / len(kept))
        recall.append(found / len(needed))
    return {
        "precision": float(np.mean(precision)),
        "recall": float(np.mean(recall)),
        "derivative": _derivative_error(query),
    }


def _in_both(labels: np.ndarray, kept: np.ndarray, needed: np.ndarray) -> int:
    """Number of kept rows that are needed; rows with equal targets stand for each other."""
    of_kept = Counter(labels[kept])
    of_needed = Counter(labels[needed])
    common = of_kept & of_needed
    return common.total()


def _needed_rows(model: TrainedRowModel, row: int) -> np.ndarray:
    """Indices of the k train rows that are nearest, found anew from the features.

    Weighted by inverse distance, rows at distance zero are needed alone; one of them, if all have
    the same target.
    """
    parameters = {**DEFAULTS, **model.parameters}
    train = model.data.train
    differences = np.abs(model.data.features[train] - model.data.features[row])
    distances = (differences ** parameters["p"]).sum(1)
    k = parameters["n_neighbors"]
    nearest = np.argsort(distances, kind="stable")[:k]
    same = nearest[distances[nearest] == 0]
    if parameters["weights"] == "uniform" or not len(same):
        return nearest
    if np.ptp(model.data.train_labels[same]) == 0:
        return same[:1]
    return same


def _of_process(query: ProbeQuery) -> Measured:
    """The weights against the derivatives of the predictions."""
    return {"derivative": _derivative_error(query)}


def _derivative_error(query: ProbeQuery) -> float:
    """Largest difference of a weight from the change of the prediction when its target moves.

    Some stored targets are moved, one at a time.
    """
    model = cast(TrainedRowModel, query.model)
    stored = model.data.stored_rows
    scale = model.statistics.scale[model.target]
    features = model.data.features[query.rows]
    weights = model.predictor.weights(
        stored,
        features,
        model.parameters,
    )
    moved_rows = drawn(np.arange(len(stored.labels)), DERIVATIVES, query.seed)
    before = model.predict_from(stored, features)
    largest = 0.0
    for index in moved_rows:
        labels = stored.labels.copy()
        labels[index] += STEP
        moved = StoredRows(stored.features, labels)
        after = model.predict_from(moved, features)
        derivative = (after - before) / (STEP * scale)
        difference = np.abs(derivative - weights[:, index])
        largest = max(largest, float(difference.max()))
    return largest


def _movement(query: ProbeQuery, perturbation: Perturbation) -> float:
    """Largest change of a prediction, in standard deviations of the train targets."""
    model = cast(TrainedBaseline, query.model)
    clean = model.predict(query.rows).values
    perturbed = query.perturbed(perturbation)
    largest = np.abs(perturbed - clean).max()
    scale = model.statistics.scale[model.target]
    return float(largest / scale)


CHECKS_OF: dict[str, Callable[[ProbeQuery], Measured]] = {
    "constant": _constant,
    "linear": _of_no_row,
    "knn": _of_neighbours,
    "gaussian_process": _of_process,
}
