"""Probe the trained models of a run: a row and arrays for each fold and study."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from npt.errors import UserError
from npt.interface import Resources, TrainedModel
from npt.table import Split
from workflow.config.study import Study
from workflow.planning import paths
from workflow.results.job import Job, device_title
from workflow.results.predictions import read_predictions
from workflow.results.row import Row, sizes
from workflow.results.row_file import read_rows, remedy
from workflow.results.search import CONFIGURATION
from workflow.studies.query import ProbeQuery, sampled, target_scale

MOST_CHANGE = 0.01  # of predictions on another device, in standard deviations or as probabilities


Answer = tuple[Study, Row, dict[str, np.ndarray]]


@dataclass(frozen=True)
class RunProbe:
    """Studies' probes of a run, whose models are loaded once for all of them.

    Attributes:
        fitted: Rows of the run, by fold.
        resources: For models that are loaded; others are refitted where they were fitted.
    """

    job: Job
    fitted: Mapping[int, Row]
    resources: Resources

    @classmethod
    def from_job(cls, job: Job, resources: Resources) -> RunProbe:
        """The probe of a run.

        Raises:
            UserError: the run has not exactly one row per fold.
        """
        path = Path(paths.run_rows(job.run.stem))
        try:
            rows = read_rows(path)
        except UserError as error:
            raise UserError(f"{error}; {remedy(path)}") from None
        if sorted(row.fold for row in rows) != sorted(job.run.folds):
            raise UserError(f"{path}: not one row per fold; {remedy(path)}")
        return cls(job, {row.fold: row for row in rows}, resources)

    def fold(self, studies: Sequence[Study], fold: int) -> Iterator[Answer]:
        """A row of a fold for each study, and arrays whose names begin with the fold."""
        fitted = self.fitted[fold]
        is_fitted = fitted.status == "ok"
        probe = self.job.method.probe(self._model(fitted)) if is_fitted else None
        for study in studies:
            kind = study.declaration
            options = study.typed_options
            columns = self.job.identity(fold)
            columns["revision"] += f".{kind.version}"
            columns["options"] = options.model_dump(mode="json")
            columns |= {"status": "ok" if is_fitted else "failed", "reason": fitted.reason}
            arrays: dict[str, np.ndarray] = {}
            if probe is not None:
                split = self.job.split(fold)
                rows = split.test
                if study.max_test_rows is not None:
                    rows = sampled(rows, study.max_test_rows, seed=fold)
                table = self.job.prepared.table
                threads = self.resources.threads
                query = ProbeQuery(probe, table, split, rows, fold, options, threads)
                started = time.perf_counter()
                facts, measured = kind.probe(query)
                seconds = time.perf_counter() - started
                columns |= sizes(split)
                columns["rows"] = len(rows)
                columns["probe_seconds"] = round(seconds, 3)
                columns["device"] = device_title(probe.trained.device)
                columns |= facts
                measured["rows"] = rows
                arrays = {f"fold_{fold}_{name}": values for name, values in measured.items()}
            yield study, Row.model_validate(columns), arrays

    def _model(self, row: Row) -> TrainedModel:
        """The trained model of a row: loaded, or refitted with the chosen hyper-parameters."""
        job = self.job
        method = job.method
        split = job.split(row.fold)
        blind = job.prepared.table.blind(split.test)
        seed = job.run.training_seed(row.fold)
        chosen = row.chosen or {}
        if method.load is None:
            assert method.refit is not None, f"{job.run.method} cannot be probed"
            device = (row.device or "cpu").partition(",")[0]  # without the model of the GPU
            resources = Resources(self.resources.threads, device)
            return method.refit(job.settings, chosen, resources, blind, split, seed)
        settings = job.settings
        if job.run.trials:  # the best configuration of a search
            settings = job.trial(chosen[CONFIGURATION]).settings
        weights = Path(paths.run_weights(job.run.stem))
        model = method.load(settings, self.resources, weights, blind, split, seed)
        self._require_same_predictions(model, split)
        return model

    def _require_same_predictions(self, model: TrainedModel, split: Split) -> None:
        """Refuse weights that predict other values than were saved after the training."""
        path = Path(paths.run_predictions(self.job.run.stem))
        predicted = model.predict(split.test).values
        saved = read_predictions(path)[f"fold_{split.fold}_test"]
        change = float(np.abs(predicted - saved).mean())
        if change > MOST_CHANGE * target_scale(self.job.prepared.table, split):
            weights = paths.run_weights(self.job.run.stem)
            raise UserError(
                f"{weights}: predicts other values than {path}, by {change:.3g} on average; "
                f"{remedy(weights)}"
            )
