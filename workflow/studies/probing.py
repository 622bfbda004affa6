"""Probe the trained models of a run: a row and arrays for each fold and study."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pkgutil import resolve_name

import numpy as np

from npt.errors import UserError
from npt.interface import Resources, TrainedModel
from npt.table import Split
from workflow.config.models import Study
from workflow.planning import paths
from workflow.results.fitting import CONFIGURATION
from workflow.results.job import Job, device_title, planned_rows
from workflow.results.predictions import read_predictions
from workflow.results.row import Row, remedy, sizes
from workflow.studies.query import ProbeQuery, sampled, target_scale

MOST_CHANGE = 0.01  # of predictions on another device, in standard deviations or as probabilities

Answer = tuple[Study, Row, dict[str, np.ndarray]]


def fitted_rows(job: Job) -> list[Row]:
    """Rows of a run.

    Raises:
        UserError: the run has not exactly one row per fold, or rows of other settings or data.
    """
    path = paths.run_rows(job.run.stem)
    try:
        return list(planned_rows(job.run, job.run.folds, job.prepared, path))
    except UserError as error:
        raise UserError(f"{error}; {remedy(path)}") from None


def probe_fold(
    job: Job, fitted: Row, studies: Sequence[Study], resources: Resources
) -> Iterator[Answer]:
    """A row of a fold for each study that has it, and arrays whose names begin with the fold.

    Args:
        fitted: Row of the run, whose model is loaded once for all studies.
        resources: For models that are loaded; others are refitted where they were fitted.
    """
    fold = fitted.fold
    studies = [study for study in studies if fold in study.runs[job.run.stem]]
    is_fitted = fitted.status == "ok"
    query = None
    split = job.prepared.splits[fold]
    if is_fitted and studies:
        probe = resolve_name(job.method.probe)(_model(job, fitted, resources))
        table = job.prepared.table
        query = ProbeQuery(probe, table, split, split.test, fold, None, resources.threads)
    for study in studies:
        kind = study.declaration
        columns = job.identity(fold)
        columns["revision"] += f".{kind.version}"
        columns["options"] = study.options
        columns |= {"status": "ok" if is_fitted else "failed", "reason": fitted.reason}
        arrays: dict[str, np.ndarray] = {}
        if query is not None:
            rows = split.test
            if study.max_test_rows is not None:
                rows = sampled(rows, study.max_test_rows, seed=fold)
            asked = replace(query, rows=rows, options=study.typed_options)  # shares its answers
            started = time.perf_counter()
            facts, measured = kind.probe(asked)
            seconds = time.perf_counter() - started
            columns |= sizes(split)
            columns["rows"] = len(rows)
            columns["probe_seconds"] = round(seconds, 3)
            columns["device"] = device_title(query.probe.trained.device)
            columns |= facts
            measured["rows"] = rows
            arrays = {f"fold_{fold}_{name}": values for name, values in measured.items()}
        yield study, Row.model_validate(columns), arrays


def _model(job: Job, row: Row, resources: Resources) -> TrainedModel:
    """The trained model of a row: loaded, or refitted with the chosen hyper-parameters."""
    method = job.method
    split = job.prepared.splits[row.fold]
    blind = job.prepared.table.blind(split.test)
    seed = job.run.training_seed(row.fold)
    chosen = row.chosen or {}
    if method.load is None:
        assert method.refit is not None, f"{job.run.method} cannot be probed"
        device = (row.device or "cpu").partition(",")[0]  # without the model of the GPU
        refitting = Resources(resources.threads, device)
        return method.refit(job.settings, chosen, refitting, blind, split, seed)
    settings = job.settings
    if job.run.trials:  # the best configuration of a search
        settings = job.trial(chosen[CONFIGURATION]).settings
    weights = paths.run_weights(job.run.stem)
    model = method.load(settings, resources, weights, blind, split, seed)
    _require_same_predictions(job, model, split)
    return model


def _require_same_predictions(job: Job, model: TrainedModel, split: Split) -> None:
    """Refuse weights that predict other values than were saved after the training."""
    path = paths.run_predictions(job.run.stem)
    predicted = model.predict(split.test).values
    saved = read_predictions(path)[f"fold_{split.fold}_test"]
    change = float(np.abs(predicted - saved).mean())
    if change > MOST_CHANGE * target_scale(job.prepared.table, split):
        weights = paths.run_weights(job.run.stem)
        raise UserError(
            f"{weights}: predicts other values than {path}, by {change:.3g} on average; "
            f"{remedy(weights)}"
        )
