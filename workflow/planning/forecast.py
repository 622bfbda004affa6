"""Forecast of what a plan costs: jobs, operations, and hours of CPU cores or of a GPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from baselines import baselines, methods
from npt.validation import validated
from workflow.config.method_settings import typed_settings
from workflow.planning import measurements, resources
from workflow.planning.patterns import rule_of
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run
from workflow.studies import kinds

JOB_SECONDS = 2.0  # of a core, for starting Python and its libraries
LARGE_FLOP = 1e17


@dataclass
class Cost:
    """Cost of a study, without the runs that an earlier study has.

    Attributes:
        flop: Operations of trainings and probes.
        training_seconds: Of one core, for these operations on a CPU.
        other_seconds: Of one core, for what a GPU does not do.
        unmeasured: Methods whose searches were never measured and are left out.
    """

    study: str
    jobs: int = 0
    flop: float = 0.0
    training_seconds: float = 0.0
    other_seconds: float = 0.0
    unmeasured: set[str] = field(default_factory=set)

    @property
    def cpu_seconds(self) -> float:
        """Seconds of one core, all on a CPU."""
        return self.training_seconds + self.other_seconds

    def add_job(self) -> None:
        """Count the start of a job."""
        self.jobs += 1
        self.other_seconds += JOB_SECONDS

    def add_flop(self, method: str, flop: float, update_flop: float) -> None:
        """Count operations of a method in updates of a size."""
        self.flop += flop
        self.training_seconds += measurements.cpu_seconds(method, flop, update_flop)


def estimate(plan: Plan) -> list[Cost]:
    """Cost of every study, then of data and report; shared runs count with the first study."""
    counted: set[str] = set()
    costs: list[Cost] = []
    for study in plan.studies.values():
        cost = Cost(study.name)
        for run in plan.runs_of(study):
            if run.stem not in counted:
                counted.add(run.stem)
                _add_run(cost, plan, run)
            if study.is_probed(run.method, run.variant):
                _add_probe(cost, plan, study, run)
        cost.add_job()  # collect
        cost.add_job()  # show
        costs.append(cost)
    rest = Cost("data and report")
    for _ in [*plan.datasets, "report"]:
        rest.add_job()
    return [*costs, rest]


def table(costs: Sequence[Cost], gpu_teraflops: float | None) -> str:
    """Costs as a Markdown table.

    Args:
        gpu_teraflops: Rate of trainings on a GPU in 10^12 operations a second; default: measured.
    """
    rate = gpu_teraflops or measurements.gpu_teraflops()
    rows = [_shown(cost, rate) for cost in [*costs, _total(costs)]]
    lines = [pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True), ""]
    if rate:
        lines.append(f"GPU hours at {rate:g} TFLOP/s.")
    else:
        lines.append("GPU hours need a rate: --gpu-teraflops.")
    unmeasured: set[str] = set()
    for cost in costs:
        unmeasured |= cost.unmeasured
    if unmeasured:
        lines.append(f"Left out, as never measured: {', '.join(sorted(unmeasured))}.")
    return "\n".join(lines)


def job_seconds(plan: Plan) -> dict[str, float]:
    """Mean seconds of one core of a job, by rule; of rules without a forecast, under ""."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for run in plan.runs.values():
        cost = Cost(run.stem)
        _add_run(cost, plan, run)
        seconds[rule_of(methods()[run.method])].append(cost.cpu_seconds)
    for study in plan.studies.values():
        for run in plan.probed_runs_of(study):
            cost = Cost(study.name)
            _add_probe(cost, plan, study, run)
            rule = "probe" if methods()[run.method].saves_weights else "probe_baseline"
            seconds[rule].append(cost.cpu_seconds)
    means = {rule: float(np.mean(of_rule)) for rule, of_rule in seconds.items()}
    return {"": JOB_SECONDS, **means}


def _add_run(cost: Cost, plan: Plan, run: Run) -> None:
    cost.add_job()
    trainings = resources.run_workloads(plan.dataset(run.dataset), run)
    for work in trainings:
        flop = len(run.folds) * work.training_flop
        cost.add_flop(run.method, flop, work.update_flop)
    if trainings:
        return
    seconds = search_seconds(plan, run)
    if seconds is None:
        cost.unmeasured.add(run.method)
    else:
        cost.other_seconds += seconds


def _add_probe(cost: Cost, plan: Plan, study: PlannedStudy, run: Run) -> None:
    """Count the probe of a run: passes over a context for each probed row."""
    cost.add_job()
    work = probe_work(plan, study, run)
    if work is not None:
        cost.add_flop(run.method, *work)


def probe_work(plan: Plan, study: PlannedStudy, run: Run) -> tuple[float, float] | None:
    """Operations of a probe, and of an update of its model; None if only measurements know."""
    trainings = resources.run_workloads(plan.dataset(run.dataset), run)
    if not trainings:
        return None
    probed = max(trainings, key=lambda work: work.query_flop)
    passes = _probed_rows(plan, study, run) * _passes(study) * len(run.folds)
    return passes * probed.query_flop, probed.update_flop


def search_seconds(plan: Plan, run: Run) -> float | None:
    """Seconds of one core for a search on all folds, scaled from the most similar measured one."""
    measured = measurements.searches()
    measured = measured[measured["method"] == run.method]
    if measured.empty:
        return None
    cells = resources.cells(plan.dataset(run.dataset))
    configurations = _configurations(plan, run)
    size_ratio = np.log(measured["cells"] / cells)
    grid_ratio = np.log(measured["configurations"] / configurations)
    nearest = measured.iloc[int(np.argmin(np.abs(size_ratio) + np.abs(grid_ratio)))]
    scale = cells / nearest["cells"] * configurations / nearest["configurations"]
    return float(len(run.folds) * nearest["seconds"] * scale)


def fits_of_search(plan: Plan, run: Run) -> int:
    """Fits of a search on a fold: configurations that one fit serves count once."""
    baseline = baselines()[run.method]
    settings = typed_settings(run.method, run.settings, run.stem)
    fits: set[str] = set()
    for point in _grid(plan, run):
        parameters = {**baseline.fixed, **settings.fixed, **point}
        shared = baseline.shared_parameters(parameters)
        alone = {name: value for name, value in parameters.items() if name not in shared}
        fits.add(repr(sorted(alone.items())))
    return min(len(fits), settings.budget or len(fits))


def _configurations(plan: Plan, run: Run) -> int:
    number = sum(1 for _ in _grid(plan, run))
    budget = typed_settings(run.method, run.settings, run.stem).budget
    return min(number, budget or number)


def _grid(plan: Plan, run: Run) -> Iterator[dict[str, Any]]:
    settings = typed_settings(run.method, run.settings, run.stem)
    dataset = plan.dataset(run.dataset)
    train_rows = resources.table_size(dataset).train_rows
    return baselines()[run.method].configurations(settings, dataset.expected_task, train_rows)


def _probed_rows(plan: Plan, study: PlannedStudy, run: Run) -> int:
    """Test rows of a fold that a study probes."""
    dataset = plan.dataset(run.dataset)
    rule = dataset.split_rule
    test_rows = rule.fixed_test_rows or dataset.rows // max(2, rule.folds)
    return min(study.max_test_rows or test_rows, test_rows)


def _passes(study: PlannedStudy) -> float:
    """Forward passes for each probed row."""
    kind = kinds()[study.kind]
    options = validated(kind.options, study.options, f"studies.{study.name}.options")
    passes = kind.forward_passes(options)
    if passes is None:
        return measurements.deletion_passes()
    return passes


def _total(costs: Sequence[Cost]) -> Cost:
    total = Cost("all")
    for cost in costs:
        total.jobs += cost.jobs
        total.flop += cost.flop
        total.training_seconds += cost.training_seconds
        total.other_seconds += cost.other_seconds
    return total


def _shown(cost: Cost, rate: float | None) -> dict[str, str]:
    gpu_hours = "not measured"
    if rate:
        gpu_hours = hours(cost.flop / (1e12 * rate))
    return {
        "study": cost.study,
        "jobs": f"{cost.jobs:,}",
        "PFLOP": petaflop(cost.flop),
        "CPU core hours, all on CPU": hours(cost.cpu_seconds),
        "CPU core hours alongside a GPU": hours(cost.other_seconds),
        "GPU hours": gpu_hours,
    }


def petaflop(flop: float) -> str:
    """Operations in units of 10^15 as text."""
    if flop > LARGE_FLOP:
        return f"{flop / 1e15:,.0f}"
    return f"{flop / 1e15:.2g}"


def hours(seconds: float) -> str:
    """Seconds in hours as text."""
    if seconds < 36_000:
        return f"{seconds / 3600:,.2f}"
    return f"{seconds / 3600:,.0f}"
