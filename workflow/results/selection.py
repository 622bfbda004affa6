"""The best trial of a tuned method on each fold (paper Appendix E.1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from workflow.planning.planned_study import Expected
from workflow.results.row import UNFINISHED, Key, Row


def best_trials(pairs: Iterable[tuple[Expected, Row]]) -> list[Row]:
    """One row for all trials of a tuned variant on a fold; other rows as they are.

    Args:
        pairs: Expected rows and the rows themselves.
    """
    groups: dict[Key, list[tuple[Expected, Row]]] = defaultdict(list)
    for expected, row in pairs:
        run_key = expected.trial_of or expected.key
        groups[run_key, expected.seed, expected.fold].append((expected, row))
    rows = []
    for (run_key, _, _), trials in groups.items():
        if trials[0][0].trial_of is None:
            rows.append(trials[0][1])
        else:
            rows.append(_best(trials, run_key.rpartition("/")[2]))
    return rows


def _best(trials: list[tuple[Expected, Row]], variant: str) -> Row:
    """The trial with the lowest validation loss, with the costs of all.

    Failed trials lose, and while one trial is unfinished so is the fold.
    """
    for _, row in trials:
        if row.status == UNFINISHED:
            return row.changed({"variant": variant})
    succeeded = [trial for trial in trials if trial[1].status == "ok"]
    expected, winner = min(succeeded, key=_loss, default=trials[0])
    chosen = {
        "configuration": winner.variant,
        **expected.changes,
        **(winner.chosen or {}),
    }
    rows = [row for _, row in trials]
    changes: dict[str, Any] = {
        "variant": variant,
        "chosen": chosen,
        "fit_seconds": round(_total(rows, "fit_seconds"), 3),
        "fits": int(_total(rows, "fits")),
        "configurations": len(trials),
    }
    return winner.changed(changes)


def _loss(trial: tuple[Expected, Row]) -> float:
    loss = trial[1].validation_loss
    return math.inf if loss is None or math.isnan(loss) else loss


def _total(rows: Iterable[Row], column: str) -> float:
    values = [getattr(row, column) for row in rows]
    return sum(value for value in values if value is not None)
