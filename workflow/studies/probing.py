"""Probe the trained model of one fold: a row and arrays."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npt.interface import ContextModel, Resources, UserError
from npt.table import Split
from workflow.planning import paths
from workflow.planning.planned_study import PlannedStudy
from workflow.results.job import Job
from workflow.results.predictions import read_predictions
from workflow.results.row import Row, sizes
from workflow.results.row_file import read_rows, remedy
from workflow.results.search import CONFIGURATION
from workflow.studies import kinds
from workflow.studies.query import ProbeQuery, drawn, target_scale
from workflow.studies.study_kind import Options, StudyKind

MOST_CHANGE = 0.01  # of predictions on another device, in standard deviations or as probabilities


class NoModelError(Exception):
    """The training of a fold gave no model; the message is the reason."""


@dataclass(frozen=True)
class Probe:
    """A study's probe of a run.

    Attributes:
        max_test_rows: Limit of the probed test rows of a fold; None probes all.
        fitted: Rows of the run, by fold.
        resources: For models that are loaded; others are refitted where they were fitted.
    """

    job: Job
    kind: StudyKind
    options: Options
    max_test_rows: int | None
    fitted: Mapping[int, Row]
    resources: Resources

    @classmethod
    def of(cls, study: PlannedStudy, job: Job, resources: Resources) -> Probe:
        """The probe that a study plans of a run.

        Raises:
            UserError: the run has not exactly one row per fold.
        """
        kind = kinds()[study.kind]
        return cls(
            job=job,
            kind=kind,
            options=kind.options.model_validate(study.options),
            max_test_rows=study.max_test_rows,
            fitted=_fitted_rows(job),
            resources=resources,
        )

    def fold(self, fold: int) -> tuple[Row, dict[str, np.ndarray]]:
        """Row of a fold, and arrays whose names begin with the fold."""
        identity = self.job.identity(fold)
        identity["revision"] = f"{identity['revision']}.{self.kind.version}"
        identity["options"] = self.options.model_dump(mode="json")
        try:
            model = self._model(fold)
        except NoModelError as error:
            return Row(**identity, status="failed", reason=str(error)), {}
        query = self._query(model, fold)
        started = time.perf_counter()
        facts, arrays = self.kind.probe(query)
        seconds = time.perf_counter() - started
        columns = {
            **identity,
            "status": "ok",
            "reason": "",
            **sizes(self.job.split(fold)),
            "rows": len(query.rows),
            "probe_seconds": round(seconds, 3),
            "seconds_per_row": round(seconds / len(query.rows), 5),
            "device": str(getattr(model, "device", "cpu")),
            **facts,
        }
        named = {f"fold_{fold}_{name}": values for name, values in arrays.items()}
        named[f"fold_{fold}_rows"] = query.rows
        return Row.model_validate(columns), named

    def _query(self, model: ContextModel, fold: int) -> ProbeQuery:
        split = self.job.split(fold)
        rows = split.test
        if self.max_test_rows is not None:
            rows = drawn(rows, self.max_test_rows, seed=fold)
        return ProbeQuery(
            model=model,
            table=self.job.prepared.table,
            split=split,
            rows=rows,
            seed=fold,
            options=self.options,
            threads=self.resources.threads,
        )

    def _model(self, fold: int) -> ContextModel:
        """The trained model of a fold: loaded, or refitted with the chosen hyper-parameters."""
        row = self.fitted[fold]
        if row.status != "ok":
            raise NoModelError(row.reason)
        job = self.job
        method = job.method
        split = job.split(fold)
        blind = job.prepared.table.blind(split.test)
        seed = job.run.training_seed(fold)
        if method.load is not None:
            weights = Path(paths.run_weights(job.run.stem))
            settings = self._settings_of(row)
            model = method.load(settings, self.resources, weights, blind, split, seed)
            self._require_same_predictions(model, split)
            return model
        assert method.refit is not None, f"{job.run.method} cannot be probed"
        chosen = row.chosen or {}
        resources = Resources(self.resources.threads, row.device or "cpu")
        return method.refit(job.settings, chosen, resources, blind, split, seed)

    def _require_same_predictions(self, model: ContextModel, split: Split) -> None:
        """Refuse weights that predict other values than were saved after the training."""
        path = Path(paths.run_predictions(self.job.run.stem))
        name = f"fold_{split.fold}_test"
        predicted = model.predict(split.test).values
        try:
            saved = read_predictions(path)[name]
        except KeyError:
            raise UserError(f"{path}: no {name}; {remedy(path)}") from None
        change = float(np.abs(predicted - saved).mean())
        if change > MOST_CHANGE * target_scale(self.job.prepared.table, split):
            weights = paths.run_weights(self.job.run.stem)
            raise UserError(
                f"{weights}: predicts other values than {path}, by {change:.3g} on average; "
                f"{remedy(weights)}"
            )

    def _settings_of(self, row: Row) -> Any:
        """Settings of the model of a row: those of the best configuration, after a search."""
        if not self.job.run.trials:
            return self.job.settings
        assert row.chosen is not None, "a search chose a configuration"
        return self.job.trial(row.chosen[CONFIGURATION]).settings


def _fitted_rows(job: Job) -> dict[int, Row]:
    path = Path(paths.run_rows(job.run.stem))
    try:
        rows = read_rows(path)
    except UserError as error:
        raise UserError(f"{error}; {remedy(path)}") from None
    rows_by_fold = {row.fold: row for row in rows}
    if len(rows) != len(rows_by_fold) or set(rows_by_fold) != set(job.run.folds):
        raise UserError(f"{path}: not one row per fold; {remedy(path)}")
    return rows_by_fold
