"""The paper's grid search (Appendix E.2), where configurations that one model serves share its fit.

Every configuration is scored on the validation rows of the fold, as if it had been fitted alone to
the train rows. The winner keeps the model that was scored.
"""

from __future__ import annotations

import json
import math
import random
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from baselines.baseline import Baseline, Predictor
from baselines.grids import BaselineSettings, Parameters
from baselines.training_data import TrainingData
from npt.interface import Infeasible, Resources, Trial, UserError


@dataclass(frozen=True)
class Candidate:
    """A configuration.

    Attributes:
        index: Index in the grid.
        parameters: Tuned and fixed ones.
        effective: Those parameters that determine the model.
    """

    index: int
    parameters: Parameters
    effective: Parameters

    @cached_property
    def model_key(self) -> str:
        """Equal for configurations that are one model."""
        return _key(self.effective)


@dataclass(frozen=True)
class Winner:
    """The best configuration: its index in the grid, all its parameters, and its model."""

    loss: float
    index: int
    parameters: Parameters
    predictor: Predictor


@dataclass(frozen=True)
class SearchResult:
    """A finished search.

    Attributes:
        trials: All configurations that were tried, in the order of the grid.
        winner: None if no configuration could be fitted and scored.
        fits: Number of models that were fitted.
        models: Number of different models that were tried.
    """

    trials: Sequence[Trial]
    winner: Winner | None
    fits: int
    models: int

    @property
    def failure(self) -> str:
        """Why there is no winner: the reason of the first failed configuration."""
        reasons = [trial.reason for trial in self.trials if trial.reason]
        return reasons[0] if reasons else "the grid is empty"


@dataclass(frozen=True)
class Search:
    """A grid search of a baseline on one fold."""

    baseline: Baseline
    data: TrainingData
    settings: BaselineSettings
    seed: int
    resources: Resources

    def run(self, grid: Sequence[Parameters]) -> SearchResult:
        """Try every configuration, or as many different models as the budget allows."""
        candidates = [self._candidate(index, point) for index, point in enumerate(grid)]
        models = _different_models(candidates)
        tried = self._within_budget(models)
        outcomes = _Outcomes()
        for group in self._groups(tried):
            self._try(group, outcomes)
        shown = candidates if len(tried) == len(models) else tried
        trials = []
        for candidate in shown:
            outcome = outcomes.by_model[candidate.model_key]
            trials.append(outcome.trial(grid[candidate.index]))
        return SearchResult(trials, outcomes.winner, outcomes.fits, len(outcomes.by_model))

    def _candidate(self, index: int, point: Parameters) -> Candidate:
        parameters = {**self.baseline.fixed, **self.settings.fixed, **point}
        effective = self.baseline.effective_parameters(parameters, self.data)
        return Candidate(index, parameters, effective)

    def _within_budget(self, models: list[Candidate]) -> list[Candidate]:
        """All models, or a sample that is the same on every fold, in the order of the grid."""
        budget = self.settings.budget
        if budget is None or budget >= len(models):
            return models
        generator = random.Random(f"{self.baseline.name} {len(models)}")
        sample = generator.sample(models, budget)
        return sorted(sample, key=lambda candidate: candidate.index)

    def _groups(self, candidates: Iterable[Candidate]) -> list[list[Candidate]]:
        """Candidates grouped by the fit that serves them."""
        groups: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            shared = self.baseline.shared_parameters(candidate.parameters)
            alone = {
                name: value for name, value in candidate.effective.items() if name not in shared
            }
            groups.setdefault(_key(alone), []).append(candidate)
        return list(groups.values())

    def _try(self, group: list[Candidate], outcomes: _Outcomes) -> None:
        """Fit and score a group; if that fails, each member alone, so that one fails no other."""
        started = time.perf_counter()
        try:
            predictor, losses = self._fit_and_score(group)
        except (UserError, ImportError):
            raise
        except Exception as error:  # whatever a library raises is the result of its configuration
            if len(group) == 1:
                outcomes.add_failure(group[0], error, time.perf_counter() - started)
                return
        else:
            outcomes.add(group, losses, predictor, time.perf_counter() - started)
            return
        for candidate in group:
            self._try([candidate], outcomes)

    def _fit_and_score(self, group: list[Candidate]) -> tuple[Predictor, list[float]]:
        configurations = [candidate.parameters for candidate in group]
        predictor = self.baseline.fit(self.data, configurations, self.seed, self.resources)
        losses = []
        for predicted in predictor(self.data.features[self.data.validation], configurations):
            losses.append(self.data.validation_loss(self.data.over_all_classes(predicted)))
        return predictor, losses


@dataclass(frozen=True)
class _Outcome:
    """Result of a model: its loss or why it has none, the number of its fit, and its seconds."""

    loss: float
    reason: str
    fit: int
    seconds: float

    def trial(self, parameters: Parameters) -> Trial:
        return Trial(dict(parameters), self.loss, self.reason, self.fit, self.seconds)


class _Outcomes:
    """What a search has found so far; of all models it keeps the best alone."""

    def __init__(self) -> None:
        self.by_model: dict[str, _Outcome] = {}
        self.winner: Winner | None = None
        self.fits = 0
        self._printed: set[str] = set()

    def add(
        self, group: list[Candidate], losses: list[float], predictor: Predictor, seconds: float
    ) -> None:
        """Record a fit that serves a group."""
        self.fits += 1
        for candidate, loss in zip(group, losses, strict=True):
            reason = "" if math.isfinite(loss) else f"the validation loss is {loss}"
            self.by_model[candidate.model_key] = _Outcome(loss, reason, self.fits, seconds)
            if math.isfinite(loss) and self._is_best(loss, candidate.index):
                self.winner = Winner(loss, candidate.index, candidate.parameters, predictor)

    def add_failure(self, candidate: Candidate, error: Exception, seconds: float) -> None:
        """Record a failed fit, and print the traceback of an error that is new."""
        reason = _summary(error)
        self.by_model[candidate.model_key] = _Outcome(math.nan, reason, 0, seconds)
        if not isinstance(error, Infeasible) and reason not in self._printed:
            traceback.print_exception(error)
            self._printed.add(reason)

    def _is_best(self, loss: float, index: int) -> bool:
        """Whether a loss is below the winner's, or equal and earlier in the grid."""
        if self.winner is None:
            return True
        return (loss, index) < (self.winner.loss, self.winner.index)


def _different_models(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The first candidate of each model."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.model_key, candidate)
    return list(first.values())


def _key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True, default=repr)


def _summary(error: Exception) -> str:
    """An exception as one line."""
    message = " ".join(str(error).split())
    if isinstance(error, Infeasible):
        return message
    if not message:
        return type(error).__name__
    return f"{type(error).__name__}: {message}"
