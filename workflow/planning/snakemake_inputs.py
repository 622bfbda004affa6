"""What the rules bind: inputs, outputs, parameters and resources of the jobs of a plan.

Memory and time are plain defaults of a rule, which grow with every attempt. A profile replaces
them with `set-resources`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from baselines import methods
from npt.errors import unknown
from npt.metrics import METRICS_VERSION
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run, hash_of

READING_MB = 500  # a Python process with its libraries
FITTING_MB = 1200  # the same with a fitted model
TRAINING_MB = 3000  # the same with a network, its activations and its attention
CELL_BYTES = 100  # of a table that is prepared, encoded or fitted
ROW_BYTES = 20_000  # of a collected row
MEGABYTE = 1_000_000
MOST_MINUTES = 2_880


@dataclass(frozen=True)
class Jobs:
    """Jobs of a plan; `wildcards` are those of a rule."""

    plan: Plan

    @property
    def targets(self) -> list[Path]:
        """All results, so that a lost file is rebuilt."""
        files = [paths.REPORT, *self.report_inputs, *map(paths.tables, self.plan.studies)]
        for run in self.plan.runs.values():
            files += run.files
            if self.plan.probes_of(run):
                files.append(paths.probes(run.stem))
        return files

    @property
    def report_inputs(self) -> list[Path]:
        """Prepared datasets, and rows and figures of all studies."""
        files = list(map(paths.prepared, self.plan.datasets))
        for study in self.plan.studies:
            files += [paths.collected(study), paths.figures(study)]
        return files

    def dataset_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a dataset, by which changes of a custom file are noticed."""
        return self.plan.dataset_fingerprints[wildcards.dataset]

    def reading_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for collecting or showing any study, or for the report of all."""
        rows = 0
        for study in self.plan.studies.values():
            rows += sum(map(len, study.runs.values()))
        return (READING_MB + ROW_BYTES * rows // MEGABYTE) * 2 ** (attempt - 1)

    def fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a run."""
        return self._run(wildcards).fingerprint

    @property
    def libraries(self) -> set[str]:
        """Libraries of the methods of the plan."""
        names: set[str] = set()
        for run in self.plan.runs.values():
            names.update(methods()[run.method].libraries)
        return names

    def memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for preparing a dataset, for a run, or for probing it."""
        dataset = self.plan.dataset(wildcards.dataset)
        method = methods().get(wildcards.get("method"))
        trains = method is not None and method.saves_weights
        megabytes = TRAINING_MB if trains else FITTING_MB
        megabytes += CELL_BYTES * dataset.rows * dataset.columns // MEGABYTE
        return megabytes * 2 ** (attempt - 1)

    def probed_files(self, wildcards: Any) -> list[Path]:
        """Rows of a run; its weights, and the predictions to compare with, if it has any."""
        run = self._run(wildcards)
        if methods()[run.method].saves_weights:
            return run.files
        return [paths.run_rows(run.stem)]

    def probe_fingerprint(self, wildcards: Any) -> str:
        """Hash of the run, the metrics, and the folds, options and limits of rows of its probes."""
        run = self._run(wildcards)
        facts: list[Any] = [run.fingerprint, METRICS_VERSION]
        for study in self.plan.probes_of(run):
            version = study.declaration.version
            folds = study.runs[run.stem]
            limits = [folds, study.options, study.max_test_rows]
            facts.append([study.name, study.kind, version, *limits])
        return hash_of(facts)

    def study_files(self, wildcards: Any) -> list[Path]:
        """Rows and predictions of a study, exactly those planned, and the datasets they are of."""
        study = self.plan.studies[wildcards.study]
        files = [*map(Path, study.external_results), *map(paths.prepared, study.datasets)]
        for run in self.plan.runs_of(study):
            if study.is_probed(run.method, run.variant):
                files.append(paths.probes(run.stem))
            else:
                files += [paths.run_rows(run.stem), paths.run_predictions(run.stem)]
        return files

    def contents(self, wildcards: Any) -> str:
        """Hash of what a study consists of, and of the version of the metrics."""
        study = self.plan.studies[wildcards.study]
        runs = [(run.stem, run.fingerprint) for run in self.plan.runs_of(study)]
        return hash_of([study.model_dump(mode="json"), runs, METRICS_VERSION])

    @property
    def scoring(self) -> str:
        """Hash of metrics and ranking."""
        return hash_of(asdict(self.plan.scoring))

    @property
    def page_contents(self) -> str:
        """Hash of what the report shows besides its inputs."""
        names = [(study.name, study.kind) for study in self.plan.studies.values()]
        return hash_of([self.plan.preset, self.plan.note, names, self.scoring])

    def _run(self, wildcards: Any) -> Run:
        stem = paths.RUN.format(**wildcards)
        if stem not in self.plan.runs:
            sys.exit(f"error: target: {unknown(stem, self.plan.runs)}")  # without a traceback
        return self.plan.runs[stem]


def growing_minutes(first: int) -> Callable[[Any, int], int]:
    """Time limit by attempt, at most two days; trainings and searches resume at the next one."""

    def limit(wildcards: Any, attempt: int) -> int:
        return min(MOST_MINUTES, first * attempt)

    return limit


def any_of(names: Iterable[str]) -> str:
    """Pattern of some names; of none, it matches nothing."""
    return "|".join(names) or "(?!)"


def methods_of(rule: str) -> str:
    """Pattern of the methods that a rule runs."""
    names: list[str] = []
    for name, method in methods().items():
        its_rule = "fit_accelerated" if method.accelerated else "fit"
        if method.saves_weights:
            its_rule = "train"
        if its_rule == rule:
            names.append(name)
    return any_of(names)
