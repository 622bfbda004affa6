"""The best trial of a tuned method on each fold (paper Appendix E.1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workflow.planning.planned_study import Expected
from workflow.results.row import Key, Row

CONFIGURATION = "configuration"  # key of the winner's name among the chosen hyper-parameters


@dataclass(frozen=True)
class Trial:
    """A row with what the plan expects of it."""

    expected: Expected
    row: Row

    @property
    def run_key(self) -> str:
        """Key of the tuned variant, or of the run itself."""
        return self.expected.trial_of or self.expected.key


def best_trials(trials: Iterable[Trial]) -> list[Row]:
    """One row for all trials of a tuned variant on a fold; other rows as they are."""
    trials_by_key: dict[Key, list[Trial]] = defaultdict(list)
    for trial in trials:
        key = (trial.run_key, trial.expected.seed, trial.expected.fold)
        trials_by_key[key].append(trial)
    return [_best(members) for members in trials_by_key.values()]


def _best(trials: list[Trial]) -> Row:
    """The trial with the lowest validation loss, with the costs of all.

    Failed trials lose.
    """
    first = trials[0]
    if first.expected.trial_of is None:
        return first.row
    variant = first.run_key.rpartition("/")[2]
    rows = [trial.row for trial in trials]
    changes = {trial.row.variant: trial.expected.changes for trial in trials}
    return best_row(rows, changes).changed({"variant": variant})


def best_row(rows: Sequence[Row], changes: Mapping[str, Mapping[str, Any]]) -> Row:
    """The row with the lowest validation loss, with the costs of all; failed ones lose.

    Args:
        rows: Of all configurations of a search on a fold.
        changes: What each configuration changes in the base, by its variant.
    """
    succeeded = [row for row in rows if row.status == "ok"]
    winner = min(succeeded, key=_loss, default=rows[0])
    chosen = {
        CONFIGURATION: winner.variant,
        **changes[winner.variant],
        **(winner.chosen or {}),
    }
    costs = {
        "fit_seconds": round(_total(rows, "fit_seconds"), 3),
        "fits": int(_total(rows, "fits")),
        "configurations": len(rows),
        "failed_configurations": len(rows) - len(succeeded),
    }
    return winner.changed({"chosen": chosen, **costs})


def _loss(row: Row) -> float:
    """Validation loss, infinite where there is none."""
    loss = row.validation_loss
    if loss is None or math.isnan(loss):
        return math.inf
    return loss


def _total(rows: Iterable[Row], column: str) -> float:
    total = 0.0
    for row in rows:
        value = getattr(row, column)
        if value is not None:
            total += value
    return total
