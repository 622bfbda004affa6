"""The best trial of a tuned method on each fold (paper Appendix E.1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from workflow.planning.planned_study import Expected
from workflow.results.row import UNFINISHED, Key, Row


@dataclass(frozen=True)
class Trial:
    """A row with what the plan expects of it."""

    expected: Expected
    row: Row

    @property
    def run_key(self) -> str:
        """Key of the tuned variant, or of the run itself."""
        return self.expected.trial_of or self.expected.key

    @property
    def loss(self) -> float:
        """Validation loss, infinite where there is none."""
        loss = self.row.validation_loss
        if loss is None or math.isnan(loss):
            return math.inf
        return loss


def best_trials(trials: Iterable[Trial]) -> list[Row]:
    """One row for all trials of a tuned variant on a fold; other rows as they are."""
    trials_by_key: dict[Key, list[Trial]] = defaultdict(list)
    for trial in trials:
        key = (trial.run_key, trial.expected.seed, trial.expected.fold)
        trials_by_key[key].append(trial)
    return [_best(members) for members in trials_by_key.values()]


def _best(trials: list[Trial]) -> Row:
    """The trial with the lowest validation loss, with the costs of all.

    Failed trials lose. While one trial is unfinished, so is the fold.
    """
    first = trials[0]
    if first.expected.trial_of is None:
        return first.row
    variant = first.run_key.rpartition("/")[2]
    for trial in trials:
        if trial.row.status == UNFINISHED:
            return trial.row.changed({"variant": variant})
    succeeded = [trial for trial in trials if trial.row.status == "ok"]
    winner = min(succeeded, key=lambda trial: trial.loss, default=first)
    changes = {
        "variant": variant,
        "chosen": _chosen(winner),
        "fit_seconds": round(_total(trials, "fit_seconds"), 3),
        "fits": int(_total(trials, "fits")),
        "configurations": len(trials),
    }
    return winner.row.changed(changes)


def _chosen(winner: Trial) -> dict[str, Any]:
    return {
        "configuration": winner.row.variant,
        **winner.expected.changes,
        **(winner.row.chosen or {}),
    }


def _total(trials: Iterable[Trial], column: str) -> float:
    total = 0.0
    for trial in trials:
        value = getattr(trial.row, column)
        if value is not None:
            total += value
    return total
