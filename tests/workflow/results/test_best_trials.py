from __future__ import annotations

from typing import Any

import pytest

from tests.rows import failed, row
from workflow.planning.planned_study import Expected
from workflow.results.best_trials import Trial, best_trials
from workflow.results.row import Row

CHANGES: dict[str, dict[str, Any]] = {"base": {}, "deep": {"layers": 8}, "wide": {"width": 64}}


def pair(result: Row) -> Trial:
    """A trial of the tuned method with what the plan expects of it."""
    expected = Expected(
        dataset=result.dataset,
        method=result.method,
        variant=result.variant,
        seed=result.seed,
        fold=result.fold,
        fingerprint="f",
        trial_of="yacht/knn/tuned" if result.method == "knn" else None,
        changes=CHANGES[result.variant],
    )
    return Trial(expected, result)


def trial(variant: str, loss: float | None, fold: int = 0, **changes: Any) -> Trial:
    costs = {"fit_seconds": 2.0, "fits": 1, "chosen": {"update": 9}}
    return pair(row(fold=fold, variant=variant, validation_loss=loss, **{**costs, **changes}))


def test_lowest_validation_loss_wins_on_each_fold() -> None:
    trials = [trial("base", 0.3), trial("deep", 0.2), trial("base", 0.3, 1), trial("deep", 0.4, 1)]
    rows = best_trials(trials)
    assert [(result.fold, result.variant) for result in rows] == [(0, "tuned"), (1, "tuned")]
    assert rows[0].chosen == {"configuration": "deep", "layers": 8, "update": 9}
    assert rows[1].chosen == {"configuration": "base", "update": 9}


@pytest.mark.parametrize("loss", [float("nan"), None])
def test_trial_without_a_validation_loss_loses(loss: float | None) -> None:
    (best,) = best_trials([trial("base", loss), trial("deep", 0.2)])
    assert best.chosen is not None
    assert best.chosen["configuration"] == "deep"


def test_costs_are_those_of_all_trials() -> None:
    (best,) = best_trials([trial("base", 0.3), trial("deep", 0.2), trial("wide", 0.5)])
    assert (best.fits, best.fit_seconds, best.configurations) == (3, 6.0, 3)


def test_failed_trial_loses_unless_all_failed() -> None:
    lost = pair(failed(variant="wide"))
    (best,) = best_trials([lost, trial("base", float("nan"))])
    assert best.status == "ok"
    (worst,) = best_trials([lost, pair(failed(variant="base", reason="diverged"))])
    assert (worst.status, worst.reason) == ("failed", "out of memory")


def test_other_rows_stay_as_they_are_and_in_order() -> None:
    other = pair(row("mlp"))
    assert best_trials([other, trial("base", 0.1)])[0] == other.row
