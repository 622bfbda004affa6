"""What the rules bind: inputs, outputs, parameters and resources of the jobs of a plan."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from baselines import methods
from npt.metrics import METRICS_VERSION
from workflow.planning import paths, resources
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run
from workflow.studies import kinds

WORKFLOW = Path(__file__).parents[1]
RULES = WORKFLOW / "rules"
CAPTION = WORKFLOW / "report" / "captions" / "shown.rst"
REPORTED = {"svg": "figure", "csv": "table"}  # formats that `snakemake --report` shows


class Jobs:
    """Jobs of a plan; `wildcards` are those of a rule."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def kinds(self) -> list[str]:
        """Kinds of the studies of the plan."""
        names = {study.kind for study in self.plan.studies.values()}
        return sorted(names)

    @property
    def targets(self) -> list[str]:
        """All results, so that a lost file is rebuilt."""
        files = [paths.REPORT, *self.prepared_datasets]
        for run in self.plan.runs.values():
            files += _files_of_run(run)
            if self.plan.probes_of(run):
                files.append(paths.probes(run.stem))
        for study in self.plan.studies.values():
            files.append(paths.collected(study.name))
            files += self.shown(study.kind, study.name)
        return files

    def dataset_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a dataset, by which changes of a custom file are noticed."""
        return self.plan.dataset_fingerprints[wildcards.dataset]

    def prepare_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for preparing a dataset."""
        return resources.table_memory(self._cells(wildcards), attempt)

    def study_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for collecting or showing a study."""
        return resources.reading_memory(len(self._study(wildcards).expected), attempt)

    def report_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for the report of all studies."""
        rows = sum(len(study.expected) for study in self.plan.studies.values())
        return resources.reading_memory(rows, attempt)

    def stem(self, wildcards: Any) -> str:
        """Stem of a run."""
        return paths.RUN.format(**dict(wildcards.items()))

    def fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a run."""
        return self._run(wildcards).fingerprint

    def libraries(self, wildcards: Any) -> str:
        """Libraries of a method, which a process may have imported already."""
        return ",".join(methods()[wildcards.method].libraries)

    def memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for a run or a probe of it."""
        trains = methods()[wildcards.method].saves_weights
        return resources.table_memory(self._cells(wildcards), attempt, trains=trains)

    def probed_files(self, wildcards: Any) -> list[str]:
        """Rows of a run; its weights, and the predictions to compare with, if it has any."""
        stem = self.stem(wildcards)
        files = [paths.run_rows(stem)]
        if methods()[wildcards.method].saves_weights:
            files.append(paths.run_weights(stem))
            files.append(paths.run_predictions(stem))
        return files

    def probe_fingerprint(self, wildcards: Any) -> str:
        """Hash of the run, and of the options and the limit of rows of its probes."""
        run = self._run(wildcards)
        facts: list[Any] = [run.fingerprint]
        for study in self.plan.probes_of(run):
            version = kinds()[study.kind].version
            facts.append([study.name, study.kind, version, study.options, study.max_test_rows])
        return _hash_of(facts)

    def row_files(self, wildcards: Any) -> list[str]:
        """Rows and predictions of a study, exactly those planned."""
        study = self._study(wildcards)
        files: list[str] = []
        for run in self.plan.runs_of(study):
            if study.is_probed(run.method, run.variant):
                files.append(paths.probes(run.stem))
                continue
            files.append(paths.run_rows(run.stem))
            files.append(paths.run_predictions(run.stem))
        return files

    def external_files(self, wildcards: Any) -> list[str]:
        """Files of external results of a study."""
        return list(self._study(wildcards).external_results)

    def study_data(self, wildcards: Any) -> list[str]:
        """Prepared datasets of a study."""
        study = self._study(wildcards)
        return [paths.prepared(dataset) for dataset in study.datasets]

    def contents(self, wildcards: Any) -> str:
        """Hash of what a study consists of, and of the version of the metrics."""
        study = self._study(wildcards)
        return _hash_of([study.model_dump(mode="json"), METRICS_VERSION])

    def shown(self, kind: str, study: str = "{study}") -> list[str]:
        """Tables and figures of a study."""
        declaration = kinds()[kind]
        files: list[str] = []
        for name in declaration.tables:
            for ending in paths.TABLE_FORMATS:
                files.append(paths.table(study, name, ending))
        for name in declaration.figures:
            for ending in paths.FIGURE_FORMATS:
                files.append(paths.figure(study, name, ending))
        return files

    def marked_for_report(self, kind: str, mark: Callable[..., Any]) -> list[Any]:
        """Tables and figures of a kind, marked by Snakemake's `report` where it shows them."""
        files: list[Any] = []
        for path in self.shown(kind):
            labels = self.report_labels(path, kind)
            if labels:
                files.append(mark(path, **labels))
            else:
                files.append(path)
        return files

    def report_labels(self, path: str, kind: str) -> dict[str, Any]:
        """How `snakemake --report` shows a table or figure; empty for other formats."""
        file = Path(path).name.removeprefix("{study}.")
        name, _, ending = file.partition(".")
        what = REPORTED.get(ending)
        if what is None:
            return {}
        return {
            "caption": os.path.relpath(CAPTION, RULES),
            "category": kinds()[kind].title,
            "subcategory": "{study}",
            "labels": {"shows": name.replace("_", " "), "as": what},
        }

    @property
    def scoring(self) -> str:
        """Hash of metrics and ranking."""
        return _hash_of(asdict(self.plan.scoring))

    @property
    def page_contents(self) -> str:
        """Hash of what the report shows besides its inputs."""
        studies = self.plan.studies.values()
        facts = [
            self.plan.preset,
            self.plan.note,
            [study.name for study in studies],
            [study.kind for study in studies],
            self.scoring,
        ]
        return _hash_of(facts)

    @property
    def collected_studies(self) -> list[str]:
        """All collected studies."""
        return [paths.collected(study) for study in self.plan.studies]

    @property
    def page_figures(self) -> list[str]:
        """Figures that the report embeds."""
        files: list[str] = []
        for study in self.plan.studies.values():
            for name in kinds()[study.kind].figures:
                files.append(paths.figure(study.name, name, "svg"))
        return files

    @property
    def prepared_datasets(self) -> list[str]:
        """All prepared datasets."""
        return [paths.prepared(dataset) for dataset in self.plan.datasets]

    def _run(self, wildcards: Any) -> Run:
        return self.plan.runs[self.stem(wildcards)]

    def _study(self, wildcards: Any) -> PlannedStudy:
        return self.plan.studies[wildcards.study]

    def _cells(self, wildcards: Any) -> int:
        dataset = self.plan.dataset(wildcards.dataset)
        return dataset.rows * dataset.columns


def _files_of_run(run: Run) -> list[str]:
    method = methods()[run.method]
    stem = run.stem
    files = [
        paths.run_rows(stem),
        paths.run_predictions(stem),
    ]
    if method.saves_weights:
        files.append(paths.run_weights(stem))
    if method.searches:
        files.append(paths.run_trials(stem))
    return files


def _hash_of(facts: Any) -> str:
    text = json.dumps(facts, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    return digest.hexdigest()[:16]
