"""What the rules bind: inputs, outputs, parameters and resources of the jobs of a plan."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from baselines import methods
from npt.interface import Method
from npt.metrics import METRICS
from workflow.planning import paths, resources
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run
from workflow.studies import kinds

NO_VALUE = "(?!)"  # a regular expression that matches nothing
EXTERNAL_FILES = (f"runs/**/*{paths.ROWS}", "runs/**/*.predictions.npz")
RULES = Path(__file__).parents[1] / "rules"
REPORTED = {"svg": "figure", "html": "table"}  # formats that `snakemake --report` shows


class Jobs:
    """Jobs of a plan; `wildcards` are those of a rule."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    # Wildcard constraints.

    @property
    def datasets(self) -> str:
        """Pattern of datasets."""
        return _pattern(self.plan.datasets)

    @property
    def studies(self) -> str:
        """Pattern of studies."""
        return _pattern(self.plan.studies)

    @property
    def probed_studies(self) -> str:
        """Pattern of studies that probe models."""
        return _pattern(study.name for study in self.plan.studies.values() if study.probes)

    def studies_of_kind(self, kind: str) -> str:
        """Pattern of studies of a kind."""
        return _pattern(s.name for s in self.plan.studies.values() if s.kind == kind)

    @property
    def kinds(self) -> list[str]:
        """Kinds of the studies of the plan."""
        return sorted({study.kind for study in self.plan.studies.values()})

    @property
    def trained_methods(self) -> str:
        """Pattern of methods that save weights."""
        return _pattern(name for name, method in methods().items() if method.saves_weights)

    @property
    def fitted_methods(self) -> str:
        """Pattern of other methods."""
        return _pattern(name for name, method in methods().items() if _is_fitted(method, False))

    @property
    def accelerated_methods(self) -> str:
        """Pattern of other methods that can use a GPU."""
        return _pattern(name for name, method in methods().items() if _is_fitted(method, True))

    @property
    def methods(self) -> str:
        """Pattern of methods."""
        return _pattern(methods())

    # Targets.

    @property
    def targets(self) -> list[str]:
        """All results, so that a lost file is rebuilt."""
        files = [paths.REPORT]
        files += [paths.prepared(dataset) for dataset in self.plan.datasets]
        for run in self.plan.runs.values():
            files += _files_of_run(run)
        for study in self.plan.studies.values():
            files.append(paths.collected(study.name))
            files += self.shown(study.kind, study.name)
            if study.probes:
                files += _files_of_probes(study)
        return files

    # Rule prepare.

    def custom_file(self, wildcards: Any) -> list[str]:
        """File of a custom dataset, so that its changes are noticed."""
        dataset = self.plan.custom_datasets.get(wildcards.dataset)
        if dataset is None or not dataset.path:
            return []
        return [str(Path(dataset.path).expanduser())]

    def dataset_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a dataset's declaration."""
        return self.plan.dataset_fingerprints[wildcards.dataset]

    def prepare_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for preparing a dataset."""
        table_cells = resources.cells(self.plan.dataset(wildcards.dataset))
        return resources.requested_memory(resources.preparing_memory(table_cells), attempt)

    # Rules train, fit and probe.

    def run_of(self, wildcards: Any) -> Run:
        """Run of a rule's wildcards."""
        return self.plan.runs[self.stem(wildcards)]

    def stem(self, wildcards: Any) -> str:
        """Stem of a run."""
        return paths.RUN.format(**dict(wildcards.items()))

    def fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a run."""
        return self.run_of(wildcards).fingerprint

    def memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for a run or a probe of it."""
        run = self.run_of(wildcards)
        dataset = self.plan.dataset(run.dataset)
        if not methods()[run.method].saves_weights:
            megabytes = resources.fitting_memory(resources.cells(dataset))
            return resources.requested_memory(megabytes, attempt)
        settings = resources.npt_settings(run.settings)
        shape = resources.shape_of(dataset, settings)
        return resources.requested_memory(resources.training_memory(shape, settings), attempt)

    def minutes(self, wildcards: Any, attempt: int) -> int:
        """Time limit of a run in minutes."""
        run = self.run_of(wildcards)
        dataset = self.plan.dataset(run.dataset)
        if methods()[run.method].saves_weights:
            return resources.training_minutes(resources.run_flop(dataset, run), attempt)
        return resources.search_minutes(resources.cells(dataset), len(run.folds), attempt)

    def probed_files(self, wildcards: Any) -> list[str]:
        """Rows of a run, and its weights if it has any."""
        stem = self.stem(wildcards)
        files = [paths.run_rows(stem)]
        if methods()[wildcards.method].saves_weights:
            files.append(paths.run_weights(stem))
        return files

    def probe_fingerprint(self, wildcards: Any) -> str:
        """Hash of the run, and of the options and the limit of rows of the probe."""
        study = self.plan.studies[wildcards.study]
        run = self.run_of(wildcards)
        return _hash_of([run.fingerprint, study.kind, study.options, study.max_test_rows])

    def probe_gpus(self, wildcards: Any) -> int:
        """GPUs for a probe: one for a model with weights."""
        return int(methods()[wildcards.method].saves_weights)

    # Rule collect.

    def row_files(self, wildcards: Any) -> list[str]:
        """Rows and predictions of a study, exactly those planned."""
        study = self.plan.studies[wildcards.study]
        files: list[str] = []
        for stem in study.runs:
            if study.probes:
                files.append(paths.probe_rows(study.name, stem))
                continue
            files.append(paths.run_rows(stem))
            files.append(paths.run_predictions(stem))
        return files

    def external_files(self, wildcards: Any) -> list[str]:
        """Files of external results of a study."""
        files: list[str] = []
        for source in self.plan.studies[wildcards.study].external_results:
            path = Path(source).expanduser()
            if path.is_dir():
                for pattern in EXTERNAL_FILES:
                    files += [str(file) for file in sorted(path.glob(pattern))]
            else:
                files.append(str(path))
        return files

    def study_data(self, wildcards: Any) -> list[str]:
        """Prepared datasets of a study."""
        study = self.plan.studies[wildcards.study]
        return [paths.prepared(dataset) for dataset in study.datasets]

    def contents(self, wildcards: Any) -> str:
        """Hash of what a study consists of."""
        study = self.plan.studies[wildcards.study]
        facts = [study.model_dump(mode="json"), self.external_files(wildcards), sorted(METRICS)]
        return _hash_of(facts)

    # Rules show and report.

    def shown(self, kind: str, study: str = "{study}") -> list[str]:
        """Tables and figures of a study."""
        files: list[str] = []
        for name in kinds()[kind].tables:
            files += [paths.table(study, name, ending) for ending in paths.TABLE_FORMATS]
        for name in kinds()[kind].figures:
            files += [paths.figure(study, name, ending) for ending in paths.FIGURE_FORMATS]
        return files

    def marked_for_report(self, kind: str, mark: Callable[..., Any]) -> list[Any]:
        """Tables and figures of a kind, marked by Snakemake's `report` where it shows them."""
        files: list[Any] = []
        for path in self.shown(kind):
            labels = self.report_labels(path, kind)
            files.append(mark(path, **labels) if labels else path)
        return files

    def report_labels(self, path: str, kind: str) -> dict[str, Any]:
        """How `snakemake --report` shows a table or figure; empty for other formats."""
        name, _, ending = Path(path).name.removeprefix("{study}.").partition(".")
        what = REPORTED.get(ending)
        if what is None:
            return {}
        caption = Path(__file__).parents[1] / "report" / "captions" / "table.rst"
        if what == "figure":
            caption = kinds()[kind].caption_path(name)
        return {
            "caption": os.path.relpath(caption, RULES),
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
        order = {study.name: study.kind for study in self.plan.studies.values()}
        return _hash_of([self.plan.preset, list(order.items()), self.scoring])

    @property
    def collected_studies(self) -> list[str]:
        """All collected studies."""
        return [paths.collected(study) for study in self.plan.studies]

    @property
    def page_figures(self) -> list[str]:
        """Figures that the report embeds."""
        files: list[str] = []
        for study in self.plan.studies.values():
            files += [file for file in self.shown(study.kind, study.name) if file.endswith(".png")]
        return files

    @property
    def prepared_datasets(self) -> list[str]:
        """All prepared datasets."""
        return [paths.prepared(dataset) for dataset in self.plan.datasets]


def _files_of_run(run: Run) -> list[str]:
    method = methods()[run.method]
    files = [paths.run_rows(run.stem), paths.run_predictions(run.stem)]
    if method.saves_weights:
        files.append(paths.run_weights(run.stem))
    if method.searches:
        files.append(paths.run_trials(run.stem))
    return files


def _files_of_probes(study: PlannedStudy) -> list[str]:
    files: list[str] = []
    for stem in study.runs:
        files.append(paths.probe_rows(study.name, stem))
        files.append(paths.probe_predictions(study.name, stem))
    return files


def _is_fitted(method: Method, accelerated: bool) -> bool:
    return not method.saves_weights and method.accelerated is accelerated


def _pattern(names: Iterable[str]) -> str:
    return "|".join(names) or NO_VALUE


def _hash_of(facts: Any) -> str:
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
