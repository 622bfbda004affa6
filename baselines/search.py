"""The paper's grid search (Appendix E.2), where configurations that one model serves share its fit.

Every configuration is scored on the validation rows of the fold, as if it had been fitted alone to
the train rows. The winner keeps the model that was scored.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from baselines.baseline import Baseline, Predictor
from baselines.grids import BaselineSettings, Parameters
from baselines.journal import Journal, Outcome
from baselines.training_data import TrainingData
from npt.interface import Infeasible, Resources, Trial, UserError
from npt.provenance import installed_version


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
        candidates = self._candidates(grid)
        models = _different_models(candidates)
        tried = self._within_budget(models)
        outcomes = _Outcomes(tried, self.journal())
        groups = self._groups(tried)
        self._try_all(groups, outcomes)
        best = outcomes.best(tried)
        if best is not None and (outcomes.winner is None or outcomes.winner.index != best.index):
            (group,) = [group for group in groups if best in group]
            outcomes.winner = self._refitted(best, group, outcomes)
        shown = candidates if len(tried) == len(models) else tried
        trials = []
        for candidate in shown:
            outcome = outcomes.by_model[candidate.model_key]
            trials.append(_trial(grid[candidate.index], outcome))
        return SearchResult(trials, outcomes.winner, outcomes.fits, len(outcomes.by_model))

    def run_part(self, grid: Sequence[Parameters], part: int, parts: int) -> None:
        """Fit each `parts`-th group of configurations, from `part` on, for the journal alone."""
        tried = self._within_budget(_different_models(self._candidates(grid)))
        outcomes = _Outcomes(tried, self.journal())
        self._try_all(self._groups(tried)[part::parts], outcomes)

    def journal(self) -> Journal:
        """The outcomes of this search before it was interrupted."""
        resources = self.resources
        if resources.checkpoint is None:
            return Journal(None, 0, "")
        minutes = resources.checkpoint_minutes
        return Journal(resources.checkpoint, minutes, self._stamp(), resources.parts)

    def _stamp(self) -> str:
        """Hex digits over data, seed, settings, versions of the method and of libraries."""
        baseline = self.baseline
        data = self.data
        facts = [
            baseline.name,
            self.settings.model_dump(mode="json", exclude={"grid", "budget"}),
            self.seed,
            self.resources.threads,
            self.resources.device,
            [installed_version(name) for name in baseline.libraries],
            baseline.version,
        ]
        digest = hashlib.sha256(repr(facts).encode())
        for array in (data.features, data.target, data.train, data.validation):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]

    def _candidates(self, grid: Sequence[Parameters]) -> list[Candidate]:
        return [self._candidate(index, point) for index, point in enumerate(grid)]

    def _try_all(self, groups: Iterable[list[Candidate]], outcomes: _Outcomes) -> None:
        for group in groups:
            if not outcomes.are_known(group):
                self._try(group, outcomes)

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

    def _refitted(self, best: Candidate, group: list[Candidate], outcomes: _Outcomes) -> Winner:
        """The best configuration, which was fitted before an interruption."""
        fits = {outcomes.by_model[candidate.model_key].fit for candidate in group}
        if len(fits) > 1:  # the group failed together
            group = [best]
        predictor, _ = self._fit_and_score(group)
        loss = outcomes.by_model[best.model_key].loss
        return Winner(loss, best.index, best.parameters, predictor)

    def _fit_and_score(self, group: list[Candidate]) -> tuple[Predictor, list[float]]:
        configurations = [candidate.parameters for candidate in group]
        predictor = self.baseline.fit(self.data, configurations, self.seed, self.resources)
        losses = []
        for predicted in predictor(self.data.features[self.data.validation], configurations):
            losses.append(self.data.validation_loss(self.data.over_all_classes(predicted)))
        return predictor, losses


class _Outcomes:
    """What a search has found so far; of all models it keeps the best alone.

    Those that the journal has are known from the start.
    """

    def __init__(self, tried: Iterable[Candidate], journal: Journal) -> None:
        self.journal = journal
        keys = {candidate.model_key for candidate in tried}
        self.by_model: dict[str, Outcome] = {}
        for model, outcome in journal.read().items():
            if model in keys:
                self.by_model[model] = outcome
        self.winner: Winner | None = None
        self.fits = max((outcome.fit for outcome in self.by_model.values()), default=0)
        self._printed: set[str] = set()

    def are_known(self, group: Iterable[Candidate]) -> bool:
        """Whether all of a group have an outcome."""
        return all(candidate.model_key in self.by_model for candidate in group)

    def best(self, tried: Iterable[Candidate]) -> Candidate | None:
        """The candidate of the lowest loss, the first of equal ones; None without any loss."""
        scored = [
            (self.by_model[candidate.model_key].loss, candidate.index, candidate)
            for candidate in tried
            if math.isfinite(self.by_model[candidate.model_key].loss)
        ]
        return min(scored, key=lambda score: score[:2])[2] if scored else None

    def add(
        self, group: list[Candidate], losses: list[float], predictor: Predictor, seconds: float
    ) -> None:
        """Record a fit that serves a group."""
        self.fits += 1
        found = {}
        for candidate, loss in zip(group, losses, strict=True):
            reason = "" if math.isfinite(loss) else f"the validation loss is {loss}"
            found[candidate.model_key] = Outcome(loss, reason, self.fits, seconds)
            if math.isfinite(loss) and self._is_best(loss, candidate.index):
                self.winner = Winner(loss, candidate.index, candidate.parameters, predictor)
        self._note(found)

    def add_failure(self, candidate: Candidate, error: Exception, seconds: float) -> None:
        """Record a failed fit, and print the traceback of an error that is new."""
        reason = _summary(error)
        self._note({candidate.model_key: Outcome(math.nan, reason, 0, seconds)})
        if not isinstance(error, Infeasible) and reason not in self._printed:
            traceback.print_exception(error)
            self._printed.add(reason)

    def _note(self, found: Mapping[str, Outcome]) -> None:
        self.by_model.update(found)
        self.journal.add(found)

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


def _trial(parameters: Parameters, outcome: Outcome) -> Trial:
    return Trial(dict(parameters), outcome.loss, outcome.reason, outcome.fit, outcome.seconds)


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
