"""Time limits of jobs: a margin times the forecast, and at most two days.

A search that would take longer is divided: each part fits some of the configurations, and a last
job takes their outcomes over and fits the best one again. A fit that is too long for a part gets
more threads.
"""

from __future__ import annotations

import math

from baselines import baselines
from baselines.baseline import Baseline
from workflow.planning import paths, resources
from workflow.planning.forecast import fits_of_search, probe_work, search_seconds
from workflow.planning.plan import Plan
from workflow.planning.run import Run

SLOWEST_GPU = 5e12  # operations a second of any GPU of a cluster
TRAINING_MARGIN = 1.5
SEARCH_MARGIN = 3.0  # forecasts of searches are scaled from other tables
FEWEST_MINUTES = 30
MOST_MINUTES = 2_880
UNMEASURED_MINUTES = 240
PART_MINUTES = 1_440  # of a part of a search
MOST_THREADS = 16


def run_minutes(plan: Plan, run: Run, attempt: int) -> int:
    """Limit of a run; the next attempt resumes, and has the same time again."""
    return _within_bounds(job_minutes(plan, run) * attempt)


def parts(plan: Plan, run: Run) -> int:
    """Jobs among which the fits of a search are divided; 1 for a search that one job does."""
    minutes = _search_minutes(plan, run)
    if minutes <= MOST_MINUTES:
        return 1
    return min(fits_of_search(plan, run), math.ceil(minutes / PART_MINUTES))


def part_files(plan: Plan, run: Run) -> list[str]:
    """Outcomes of the parts of a search; empty if one job does it."""
    number = parts(plan, run)
    if number == 1:
        return []
    return [
        paths.run_part(run.stem, paths.PART.format(part=part, parts=number))
        for part in range(number)
    ]


def threads(plan: Plan, run: Run) -> int:
    """Threads of a run: more than one where a part of a search is too long for one."""
    if not baselines().get(run.method, Baseline).parallel:
        return 1
    return min(MOST_THREADS, math.ceil(_part_minutes(plan, run) / MOST_MINUTES)) or 1


def job_minutes(plan: Plan, run: Run) -> float:
    """Forecast minutes of the longest job of a run, with a margin; threads share work evenly."""
    if parts(plan, run) == 1:
        return needed_minutes(plan, run)
    return _part_minutes(plan, run) / threads(plan, run)


def _part_minutes(plan: Plan, run: Run) -> float:
    """Minutes of one core for the longest part of a search; 0 for a training."""
    minutes = _search_minutes(plan, run)
    if minutes <= MOST_MINUTES:
        return minutes
    fits = fits_of_search(plan, run)
    return minutes * math.ceil(fits / parts(plan, run)) / fits


def _search_minutes(plan: Plan, run: Run) -> float:
    """Minutes of one core for a search, with the margin; 0 for a training."""
    if resources.run_flop(plan.dataset(run.dataset), run):
        return 0.0
    return needed_minutes(plan, run)


def probe_minutes(plan: Plan, run: Run, attempt: int) -> int:
    """Limit of the probes of a run, which begin anew at each attempt."""
    minutes = 0.0
    for study in plan.probes_of(run):
        work = probe_work(plan, study, run)
        if work is None:
            minutes += UNMEASURED_MINUTES
        else:
            minutes += TRAINING_MARGIN * work[0] / SLOWEST_GPU / 60
    return _within_bounds(minutes * attempt)


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
    """Hours of the jobs that need more than the longest limit, by stem, the longest first."""
    hours: dict[str, float] = {}
    for stem, run in plan.runs.items():
        minutes = job_minutes(plan, run)
        if minutes > MOST_MINUTES:
            hours[stem] = minutes / 60
    return dict(sorted(hours.items(), key=lambda item: -item[1]))


def _within_bounds(minutes: float) -> int:
    return int(min(MOST_MINUTES, max(FEWEST_MINUTES, minutes)))
