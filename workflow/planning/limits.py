"""Time limits of jobs: a margin times the forecast, and at most two days."""

from __future__ import annotations

from workflow.planning import resources
from workflow.planning.forecast import probe_work, search_seconds
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run

SLOWEST_GPU = 5e12  # operations a second of any GPU of a cluster
TRAINING_MARGIN = 1.5
SEARCH_MARGIN = 3.0  # forecasts of searches are scaled from other tables
FEWEST_MINUTES = 30
MOST_MINUTES = 2_880
UNMEASURED_MINUTES = 240


def run_minutes(plan: Plan, run: Run, attempt: int) -> int:
    """Limit of a run; the next attempt resumes, and has the same time again."""
    return _within_bounds(needed_minutes(plan, run) * attempt)


def probe_minutes(plan: Plan, study: PlannedStudy, run: Run, attempt: int) -> int:
    """Limit of a probe, which begins anew at each attempt."""
    work = probe_work(plan, study, run)
    if work is None:
        return _within_bounds(UNMEASURED_MINUTES * attempt)
    flop, _ = work
    return _within_bounds(TRAINING_MARGIN * flop / SLOWEST_GPU / 60 * attempt)


def needed_minutes(plan: Plan, run: Run) -> float:
    """Forecast minutes of a run with a margin, on a slow GPU or on one core."""
    flop = resources.run_flop(plan.dataset(run.dataset), run)
    if flop:
        return TRAINING_MARGIN * flop / SLOWEST_GPU / 60
    seconds = search_seconds(plan, run)
    if seconds is None:
        return UNMEASURED_MINUTES
    return SEARCH_MARGIN * seconds / 60


def beyond_limits(plan: Plan) -> dict[str, float]:
    """Hours of the runs that need more than the longest limit, by stem, the longest first."""
    hours: dict[str, float] = {}
    for stem, run in plan.runs.items():
        minutes = needed_minutes(plan, run)
        if minutes > MOST_MINUTES:
            hours[stem] = minutes / 60
    return dict(sorted(hours.items(), key=lambda item: -item[1]))


def _within_bounds(minutes: float) -> int:
    return int(min(MOST_MINUTES, max(FEWEST_MINUTES, minutes)))
