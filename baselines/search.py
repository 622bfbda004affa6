"""The paper's grid search (Appendix E.2), with the work shared: configurations that one model serves are fitted together.

Every configuration is scored on the validation rows of the fold, as if it had been fitted alone on the train rows; the winner
keeps the model that was scored, which fitting it again would repeat.
"""

from __future__ import annotations

import json
import math
import random
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from baselines.declaration import (
    Baseline,
    BaselineSettings,
    Fitted,
    Parameters,
    TrainingData,
    seen_classes,
    training_data,
)
from npt.data.encoding import statistics
from npt.interface import (
    DATA_SOURCES,
    Duplicates,
    Fit,
    Infeasible,
    Method,
    Prediction,
    Resources,
    Trial,
    UserError,
    all_folds,
)
from npt.metrics import negative_log_likelihood
from npt.perturbation import Perturbation
from npt.table import Split, Table

SHARED_SOURCES = (*DATA_SOURCES, "baselines/declaration.py", "baselines/search.py")


def method(baseline: Baseline) -> Method:
    """A baseline as a method of the benchmark."""
    return Method(
        name=baseline.name,
        title=baseline.title,
        settings=BaselineSettings,
        build=lambda settings, resources: SearchLearner(baseline, settings, resources),
        supports=baseline.supports,
        folds_per_job=_one_unless_quick if baseline.slow else all_folds,
        accelerated=baseline.accelerated,
        searches=True,
        sources=(*SHARED_SOURCES, *baseline.sources, f"baselines/{baseline.name}.py"),
    )


def _one_unless_quick(settings: Mapping[str, Any]) -> int | None:
    return None if settings["grid"] == "quick" else 1


class SearchLearner:
    """A baseline tuned on the validation rows."""

    def __init__(
        self, baseline: Baseline, settings: BaselineSettings, resources: Resources
    ) -> None:
        if settings.native_categories and not baseline.native:
            raise UserError(
                f"{baseline.name}.native_categories: true is not allowed, the method takes numbers alone"
            )
        if settings.native_missing and not baseline.takes_missing:
            raise UserError(
                f"{baseline.name}.native_missing: true is not allowed, the method takes no missing numbers"
            )
        self.baseline, self.settings, self.resources = baseline, settings, resources
        self.device = (
            resources.device if baseline.accelerated and resources.device != "auto" else "cpu"
        )

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Search the grid with random state 42 + fold and keep the first of the best.

        Raises:
            Infeasible: the train rows have one target value, or no configuration could be fitted and scored.
        """
        native = self.baseline.codes or self.settings.native_categories
        self.data = training_data(
            table, split, codes=native, missing=np.nan if self.settings.native_missing else 0.0
        )
        if len(np.unique(self.data.target[self.data.train])) < 2:
            raise Infeasible("the train rows have a single target value")
        if not len(self.data.validation):
            raise Infeasible("no validation row has a known target")
        known = statistics(table, split)
        self.centre, self.scale = known.centre[table.target], known.scale[table.target]
        if self.device != "cpu":
            from npt.nn.device import device_of

            device_of(self.device)
        grid = list(self.baseline.configurations(self.settings, self.data.task, len(split.train)))
        resources = replace(self.resources, device=self.device)
        with threadpool_limits(self.resources.threads):
            search = Search(self.baseline, self.data, self.settings, 42 + seed, resources)
            trials = search.run(grid)
        if search.best is None:
            reason = next((trial.reason for trial in trials if trial.reason), "the grid is empty")
            raise Infeasible(
                f"none of the {len(trials)} configurations could be fitted and scored: {reason}",
                trials,
            )
        self.best = search.best
        return Fit(
            grid[self.best.place],
            self.best.loss,
            search.fits,
            trials=trials,
            grid=len(grid),
            models=search.models,
        )

    def predict(self, rows: np.ndarray) -> Prediction:
        """Probabilities over all classes, or values in original units."""
        with threadpool_limits(self.resources.threads):
            (predicted,) = self.best.fitted(self.data.features[rows], [self.best.parameters])
        return self._decoded(over_all_classes(self.data, predicted))

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict rows that are not among the train rows, while the train rows are disturbed for each of them.

        Only a method that predicts from its train rows can tell the difference.
        """
        if self.baseline.stored is None:
            return self.predict(rows)
        values = []
        with threadpool_limits(self.resources.threads):
            for row in rows:
                others = _disturbed(self.data, perturbation, seed, int(row))
                fitted = self.baseline.stored(others, self.best.parameters, self.resources)
                (predicted,) = fitted(self.data.features[[row]], [self.best.parameters])
                values.append(over_all_classes(others, predicted))
        return self._decoded(np.concatenate(values))

    def _decoded(self, values: np.ndarray) -> Prediction:
        return Prediction(values * self.scale + self.centre if self.data.is_regression else values)


def _disturbed(data: TrainingData, perturbation: Perturbation, seed: int, row: int) -> TrainingData:
    """The train rows (as all there are) when they are disturbed for a row that is predicted."""
    columns = np.array([*data.columns, max(data.columns) + 1])  # of the features, and the target
    shape = len(data.train) + 1, columns[-1] + 1
    sources = data.train[
        perturbation.sources(seed, row, 0, shape)[1:] - 1
    ]  # (m, d), without the predicted row
    features = np.take_along_axis(data.features, sources[:, columns[:-1]], 0)
    target, every = data.target[sources[:, -1]], np.arange(len(sources))
    return replace(data, features=features, target=target, train=every, validation=every[:0])


def looked_up(
    baseline: Baseline, data: TrainingData, task: Duplicates, seed: int, resources: Resources
) -> np.ndarray:
    """Standardised values (n,) of the originals of the lookup task by the quick grid's best.

    A baseline with `recall` learns from the train rows of `data`, others from the duplicates, by which they also choose.

    Raises:
        Infeasible: no configuration could be fitted.
    """
    if baseline.recall is None:
        every = np.arange(len(task.shown))
        data = TrainingData(task.duplicates, task.shown, every, every, "regression", 1)
    settings = BaselineSettings("quick")
    grid = list(baseline.configurations(settings, "regression", len(data.train)))
    with threadpool_limits(resources.threads):
        if baseline.recall is not None:
            return baseline.recall(data, {**baseline.fixed, **grid[0]}, 42 + seed, resources, task)
        search = Search(baseline, data, settings, 42 + seed, resources)
        trials = search.run(grid)
        if search.best is None:
            raise Infeasible(next(trial.reason for trial in trials if trial.reason), trials)
        (predicted,) = search.best.fitted(task.originals, [search.best.parameters])
    return over_all_classes(data, predicted)


@dataclass(frozen=True)
class Winner:
    """The best configuration so far: its place in the grid, its parameters with fixed ones, and a model that serves it."""

    loss: float
    place: int
    parameters: Parameters
    fitted: Fitted


@dataclass(frozen=True)
class Candidate:
    """A configuration: its place in the grid, all its parameters, and what of them determines its model."""

    place: int
    parameters: Parameters
    model: Parameters

    @cached_property
    def key(self) -> str:
        """The same for configurations that are one model."""
        return _key(self.model)


@dataclass(frozen=True)
class Outcome:
    """What became of a candidate: its loss, or why it has none, which fit served it and how long that took."""

    loss: float
    reason: str
    fit: int
    seconds: float


class Search:
    """One search on one fold; `best` is the winner, `models` how many different ones were tried, in `fits` fits."""

    def __init__(
        self,
        baseline: Baseline,
        data: TrainingData,
        settings: BaselineSettings,
        seed: int,
        resources: Resources,
    ) -> None:
        self.baseline, self.data, self.settings, self.seed, self.resources = (
            baseline,
            data,
            settings,
            seed,
            resources,
        )
        self.best: Winner | None = None
        self.fits = self.models = 0
        self.printed: set[str] = set()

    def run(self, grid: Sequence[Parameters]) -> list[Trial]:
        """Try the grid, or as much of it as the settings allow; a trial for each configuration tried, in the grid's order."""
        every = [self._candidate(place, point) for place, point in enumerate(grid)]
        first: dict[str, Candidate] = {}
        for candidate in every:
            first.setdefault(candidate.key, candidate)
        wanted = self._within_budget(list(first.values()))
        outcomes: dict[str, Outcome] = {}
        for family in self._families(wanted):
            for candidate, outcome, fitted in self._try(family):
                outcomes[candidate.key] = outcome
                self._keep_if_best(
                    Winner(outcome.loss, candidate.place, candidate.parameters, fitted)
                )
        self.models = len(outcomes)
        shown = wanted if len(wanted) < len(first) else every
        return [_trial(grid[one.place], outcomes[one.key]) for one in shown if one.key in outcomes]

    def _candidate(self, place: int, point: Parameters) -> Candidate:
        parameters = {**self.baseline.fixed, **self.settings.fixed, **point}
        return Candidate(place, parameters, self.baseline.model(parameters, self.data))

    def _within_budget(self, models: list[Candidate]) -> list[Candidate]:
        """All different models, or as many as the budget has, drawn alike on every fold."""
        budget = self.settings.budget
        if budget is None or budget >= len(models):
            return models
        drawn = random.Random(f"{self.baseline.name} {len(models)}").sample(models, budget)
        return sorted(drawn, key=lambda candidate: candidate.place)

    def _families(self, candidates: Iterable[Candidate]) -> Iterable[list[Candidate]]:
        """Candidates that one fit serves; under a limit of time in a drawn order, and none is begun after it."""
        families: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            shared = self.baseline.shared(candidate.parameters)
            own = {name: value for name, value in candidate.model.items() if name not in shared}
            families.setdefault(_key(own), []).append(candidate)
        order = list(families.values())
        if self.settings.minutes is None:
            yield from order
            return
        random.Random(f"{self.baseline.name} {self.seed}").shuffle(order)
        end = time.monotonic() + 60 * self.settings.minutes
        for number, family in enumerate(order):
            if number and time.monotonic() >= end:
                return
            yield family

    def _try(self, family: list[Candidate]) -> Iterable[tuple[Candidate, Outcome, Fitted]]:
        """Fit and score a family; if that fails, each of its members alone, so that one takes no other with it."""
        started = time.perf_counter()
        wanted = [candidate.parameters for candidate in family]
        try:
            fitted = self.baseline.fit(self.data, wanted, self.seed, self.resources)
            predicted = fitted(self.data.features[self.data.validation], wanted)
            losses = [
                validation_loss(self.data, over_all_classes(self.data, values))
                for values in predicted
            ]
        except (UserError, ImportError):
            raise
        except (
            Exception
        ) as error:  # a library may fail in any way; what it says is the configuration's result
            if len(family) > 1:
                for candidate in family:
                    yield from self._try([candidate])
                return
            reason = _said(error)
            if not isinstance(error, Infeasible) and reason not in self.printed:
                traceback.print_exc()
                self.printed.add(reason)
            yield family[0], Outcome(math.nan, reason, 0, time.perf_counter() - started), _unfitted
            return
        took = time.perf_counter() - started
        self.fits += 1
        for candidate, loss in zip(family, losses, strict=True):
            reason = "" if math.isfinite(loss) else f"the validation loss is {loss}"
            yield candidate, Outcome(loss, reason, self.fits, took), fitted

    def _keep_if_best(self, found: Winner) -> None:
        if not math.isfinite(found.loss):
            return
        if self.best is None or (found.loss, found.place) < (self.best.loss, self.best.place):
            self.best = found


def over_all_classes(data: TrainingData, predicted: np.ndarray) -> np.ndarray:
    """Values (n,), or probabilities (n, C) in float64 that sum to one, zero for classes without train rows."""
    values = np.asarray(predicted, np.float64)
    if data.is_regression:
        return values.reshape(-1)
    every = np.zeros((len(values), data.classes))
    every[:, seen_classes(data)] = values
    return every / every.sum(1, keepdims=True)


def validation_loss(data: TrainingData, predicted: np.ndarray) -> float:
    """Log loss in nats, or mean squared error of the standardised target, over the validation rows."""
    truth = data.target[data.validation]
    if data.is_regression:
        return float(np.mean((predicted - truth) ** 2))
    return math.nan if np.isnan(predicted).any() else negative_log_likelihood(truth, predicted)


def _trial(parameters: Parameters, outcome: Outcome) -> Trial:
    return Trial(dict(parameters), outcome.loss, outcome.reason, outcome.fit, outcome.seconds)


def _key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True, default=repr)


def _said(error: Exception) -> str:
    """One line of what an exception says."""
    message = " ".join(str(error).split())
    if isinstance(error, Infeasible):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _unfitted(features: np.ndarray, configurations: Sequence[Parameters]) -> Sequence[np.ndarray]:
    raise AssertionError("a configuration that failed is never chosen")
