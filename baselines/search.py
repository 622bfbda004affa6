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
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import itemgetter
from textwrap import shorten

import joblib

from baselines.baseline import Baseline, Predictor
from baselines.grids import BaselineSettings, Parameters
from baselines.training_data import TrainingData
from npt.checksum import json_line, without_checksum
from npt.errors import Infeasible, UserError
from npt.interface import Resources, Trial
from npt.provenance import installed_version

MOST_LETTERS = 300  # of the reason of a failure


@dataclass(frozen=True)
class Candidate:
    """A configuration.

    Attributes:
        index: Index in the grid.
        parameters: Tuned and fixed ones.
        model_key: Equal for configurations that are one model.
        fit_key: Equal for configurations that one fit serves.
    """

    index: int
    parameters: Parameters
    model_key: str
    fit_key: str


@dataclass(frozen=True, order=True)
class Winner:
    """The best configuration: its index in the grid, all its parameters, and its model."""

    loss: float
    index: int
    parameters: Parameters = field(compare=False)
    predictor: Predictor = field(compare=False)


class Search:
    """A grid search of a baseline on one fold.

    Attributes:
        stamp: Hash of the data, the seed, the settings, and versions of the method and of
            libraries. An interrupted search resumes from the lines of a file that have it.
        outcomes: What is known of the different models that are tried.
        trials: All configurations that were tried, in the order of the grid.
        fits: Number of models whose fits succeeded.
        winner: The best model that was fitted here.
    """

    def __init__(
        self,
        baseline: Baseline,
        data: TrainingData,
        settings: BaselineSettings,
        seed: int,
        resources: Resources,
    ) -> None:
        self.baseline = baseline
        self.data = data
        self.settings = settings
        self.fixed = {**baseline.defaults, **baseline.of_task(settings.fixed, data.task)}
        self.seed = seed
        self.resources = resources
        facts = [
            baseline.name,
            baseline.version,
            [installed_version(name) for name in baseline.libraries],
            settings.model_dump(),
            seed,
            resources.threads,
            resources.device,
            data,
        ]
        self.stamp = joblib.hash(facts)
        self.outcomes = self._recorded()
        self.trials: list[Trial] = []
        self.fits = max((trial.fit for trial in self.outcomes.values()), default=0)
        self.winner: Winner | None = None

    def run(self, grid: Sequence[Parameters]) -> Winner:
        """Try every configuration, or as many different models as the budget allows.

        Raises:
            Infeasible: There are too many train rows, or no configuration could be fitted and
                scored.
        """
        rows = len(self.data.train)
        most = self.baseline.most_rows
        if rows > most:
            raise Infeasible(f"{rows} train rows; {self.baseline.title} takes at most {most}")
        candidates = [self._candidate(index, point) for index, point in enumerate(grid)]
        models: dict[str, Candidate] = {}
        for candidate in candidates:
            models.setdefault(candidate.model_key, candidate)
        tried = self._within_budget(list(models.values()))
        groups: dict[str, list[Candidate]] = {}
        for candidate in tried:
            groups.setdefault(candidate.fit_key, []).append(candidate)
        for group in groups.values():
            if any(candidate.model_key not in self.outcomes for candidate in group):
                self._try(group)
        for candidate in candidates if len(tried) == len(models) else tried:
            outcome = self.outcomes[candidate.model_key]
            self.trials.append(replace(outcome, parameters=dict(grid[candidate.index])))
        return self._best(tried)

    def _recorded(self) -> dict[str, Trial]:
        """Outcomes by model in the checkpoint; a line that was cut off is left out."""
        outcomes: dict[str, Trial] = {}
        path = self.resources.checkpoint
        if path is None or not path.exists():
            return outcomes
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(without_checksum(text))
                if line.pop("stamp") == self.stamp:
                    model = line.pop("model")
                    outcomes[model] = Trial(**line)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
        return outcomes

    def _record(self, outcomes: dict[str, Trial]) -> None:
        """Append outcomes to the checkpoint."""
        path = self.resources.checkpoint
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # after a line that was cut off
            for model, trial in outcomes.items():
                line = {"stamp": self.stamp, "model": model, **asdict(trial)}
                stream.write(json_line(line))

    def _candidate(self, index: int, point: Parameters) -> Candidate:
        parameters = {**self.fixed, **point}
        effective = self.baseline.effective_parameters(parameters, self.data)
        shared = self.baseline.shared_parameters(parameters)
        alone = {name: value for name, value in effective.items() if name not in shared}
        return Candidate(index, parameters, _key(effective), _key(alone))

    def _within_budget(self, models: list[Candidate]) -> list[Candidate]:
        """All models, or a sample that is the same on every fold, in the order of the grid."""
        budget = self.settings.budget
        if budget is None or budget >= len(models):
            return models
        generator = random.Random(f"{self.baseline.name} {len(models)}")
        sample = generator.sample(models, budget)
        return sorted(sample, key=lambda candidate: candidate.index)

    def _try(self, group: list[Candidate]) -> None:
        """Fit and score a group; if that fails, each member alone, so that one fails no other."""
        started = time.perf_counter()
        losses = [math.nan]
        failure = ""
        fit = 0
        try:
            losses = self._fit_and_score(group)
            self.fits += 1
            fit = self.fits
        except (UserError, ImportError, NameError, AttributeError):  # mistakes in code end the job
            raise
        except Exception as error:  # whatever a library raises is the result of its configuration
            if len(group) > 1:
                for candidate in group:
                    self._try([candidate])
                return
            failure = self._reason(error)
        seconds = time.perf_counter() - started
        outcomes = {}
        for candidate, loss in zip(group, losses, strict=True):
            reason = failure
            if not failure and not math.isfinite(loss):
                reason = f"the validation loss is {loss}"
            trial = Trial(candidate.parameters, loss, reason, fit, seconds)
            outcomes[candidate.model_key] = trial
        self.outcomes.update(outcomes)
        self._record(outcomes)

    def _fit_and_score(self, group: list[Candidate]) -> list[float]:
        """Losses of a group, whose best takes the lead if none before is better."""
        largest = group[0].parameters
        for name in self.baseline.shared_parameters(largest)[:1]:
            largest = max((candidate.parameters for candidate in group), key=itemgetter(name))
        predictor = self.baseline.fit(self.data, largest, self.seed, self.resources)
        features = self.data.features[self.data.validation]
        losses = []
        for candidate in group:
            predicted = predictor(features, candidate.parameters)
            loss = self.data.validation_loss(predicted)
            losses.append(loss)
            if math.isfinite(loss):
                winner = Winner(loss, candidate.index, candidate.parameters, predictor)
                self.winner = min(self.winner or winner, winner)
        return losses

    def _best(self, tried: list[Candidate]) -> Winner:
        """The first model of the lowest loss, fitted again if that was before an interruption."""

        def loss_of(candidate: Candidate) -> float:
            return self.outcomes[candidate.model_key].validation_loss

        finite = [candidate for candidate in tried if math.isfinite(loss_of(candidate))]
        if not finite:
            reasons = [trial.reason for trial in self.trials] or ["the grid is empty"]
            message = f"none of the {len(self.trials)} configurations could be fitted and scored"
            raise Infeasible(f"{message}: {reasons[0]}", self.trials)
        best = min(finite, key=loss_of)
        if self.winner is None or self.winner.index != best.index:
            self.winner = None
            self._fit_and_score([best])
        assert self.winner is not None, "a configuration is as good when it is fitted again"
        return self.winner

    def _reason(self, error: Exception) -> str:
        """An exception as one line; an unexpected one is printed the first time."""
        if isinstance(error, Infeasible):
            return str(error)
        reason = shorten("".join(traceback.format_exception_only(error)), MOST_LETTERS)
        if reason not in {outcome.reason for outcome in self.outcomes.values()}:
            traceback.print_exception(error)
        return reason


def _key(parameters: Parameters) -> str:
    return json.dumps(parameters, sort_keys=True, default=repr)
