"""From a configuration to the list of runs and the files they make; imports nothing heavy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from baselines import methods
from npt.data.custom import CustomDataset
from workflow.config.folds import format_folds
from workflow.config.old_reading import Config
from workflow.config.old_study import TUNED, Study
from workflow.planning import resources
from workflow.planning.old_selection import selection, trials, wanted_folds
from workflow.planning.paths import RESULTS, ROWS
from workflow.planning.runs import Run
from workflow.results.external_files import run_files
from workflow.studies.kinds import FIGURE_ENDINGS, KINDS, TABLE_ENDINGS

NOTHING = "(?!)"


class Plan:
    """The runs that a configuration's studies need, each once, and the paths of all results."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.studies = {study.name: study for study in config.studies}
        self._selected = {study.name: list(selection(study, config)) for study in config.studies}
        self._elsewhere = {
            study.name: run_files(study.also, f"studies.{study.name}.also")
            for study in config.studies
        }
        self._wanted = wanted_folds(config, self._selected, self._elsewhere)

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Every run by its stem. A method's folds are cut into blocks as its declaration says."""
        runs = {}
        for (dataset, method, variant), (settings, folds) in self._wanted.items():
            size = methods()[method].folds_per_job(settings) or max(1, len(folds))
            for start in range(0, len(folds), size):
                run = Run(
                    dataset,
                    method,
                    variant,
                    folds[start : start + size],
                    settings,
                    self._fingerprints[dataset],
                )
                runs[run.stem] = run
        return runs

    def runs_of(self, study: Study) -> list[Run]:
        """The runs a study looks at."""
        names = {
            (dataset, method, variant) for dataset, method, variant, _ in self._selected[study.name]
        }
        return [
            run
            for run in self.runs.values()
            if (run.dataset, run.method, run.variant) in names and self.folds_of_study(study, run)
        ]

    def folds_of_study(self, study: Study, run: Run) -> list[int]:
        """Those of a run's folds that a study shows, less those that other machines' files have."""
        elsewhere = self._elsewhere[study.name].get((run.dataset, run.method, run.variant), ())
        return sorted(set(run.folds) & set(study.folds[run.dataset]) - set(elsewhere))

    @property
    def datasets(self) -> list[str]:
        """Datasets that occur in the plan."""
        return sorted({dataset for dataset, _, _ in self._wanted})

    @property
    def targets(self) -> list[str]:
        """What `snakemake` makes: the page, and every file on the way to it, so that a lost one is made anew."""
        paths = [f"{RESULTS}/report/index.html", *self.report_inputs(None), *self.data_inputs(None)]
        for study in self.config.studies:
            paths += self.shown(study.name, study.kind)
            if KINDS[study.kind].probe:
                stems = [self.rows_of(study, run).removesuffix(ROWS) for run in self.runs_of(study)]
                paths += [
                    f"{stem}{ending}" for stem in stems for ending in (ROWS, ".predictions.npz")
                ]
        for run in self.runs.values():
            method = methods()[run.method]
            endings = [ROWS, ".predictions.npz"]
            endings += [".pt"] * method.saves_weights + [".scores.parquet"] * method.searches
            paths += [f"{RESULTS}/runs/{run.stem}{ending}" for ending in endings]
        return paths

    @property
    def kinds(self) -> list[str]:
        """Kinds of studies that occur in the plan."""
        return sorted({study.kind for study in self.config.studies})

    def shown(self, study: str, kind: str) -> list[str]:
        """Tables and figures of a study."""
        tables = [f"{RESULTS}/tables/{study}.{table}" for table in KINDS[kind].tables]
        figures = [f"{RESULTS}/figures/{study}.{figure}" for figure in KINDS[kind].figures]
        return [
            *(f"{stem}.{ending}" for stem in tables for ending in TABLE_ENDINGS),
            *(f"{stem}.{ending}" for stem in figures for ending in FIGURE_ENDINGS),
        ]

    def in_report(self, path: str, kind: str) -> dict[str, Any]:
        """How `snakemake --report` shows a table or figure of a study; empty for the formats that it leaves out."""
        name, _, ending = path.rpartition("/")[2].removeprefix("{study}.").partition(".")
        what = {"svg": "figure", "html": "table"}.get(ending)
        if what is None:
            return {}
        caption = f"../report/captions/{name if what == 'figure' else 'table'}.rst"
        labels = {"shows": name.replace("_", " "), "as": what}
        return {
            "caption": caption,
            "category": KINDS[kind].title,
            "subcategory": "{study}",
            "labels": labels,
        }

    def rows_of(self, study: Study, run: Run) -> str:
        """The file of a run's rows, or of the rows of the study's probe of it."""
        folder = f"probes/{study.name}" if KINDS[study.kind].probe else "runs"
        return f"{RESULTS}/{folder}/{run.stem}{ROWS}"

    def pattern(self, what: str) -> str:
        """Regular expression of a wildcard's values: methods, those `trained`, `fitted`, `accelerated`, or studies: those
        `probed`, or of a kind."""
        names = {
            "method": methods(),
            "trained": [name for name, method in methods().items() if method.saves_weights],
            "fitted": [
                name
                for name, method in methods().items()
                if not method.saves_weights and not method.accelerated
            ],
            "accelerated": [
                name
                for name, method in methods().items()
                if not method.saves_weights and method.accelerated
            ],
            **{
                kind: [study.name for study in self.config.studies if study.kind == kind]
                for kind in KINDS
            },
            "probed": [study.name for study in self.config.studies if KINDS[study.kind].probe],
        }
        return "|".join(names[what]) or NOTHING

    # What follows gives Snakemake's rules their inputs and parameters; `wildcards` are theirs.

    def run_at(self, wildcards: Any) -> Run:
        """The run that a rule's wildcards name."""
        return self.runs[
            f"{wildcards.dataset}/{wildcards.method}/{wildcards.variant}/{wildcards.folds}"
        ]

    def settings(self, wildcards: Any) -> str:
        """Resolved settings of a run as JSON."""
        return json.dumps(self.run_at(wildcards).settings, sort_keys=True)

    def fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a run."""
        return self.run_at(wildcards).fingerprint

    def dataset_fingerprint(self, wildcards: Any) -> str:
        """Fingerprint of a dataset's declaration."""
        return self._fingerprints[wildcards.dataset]

    def own_file(self, wildcards: Any) -> list[str]:
        """The file of a table of the user's own, so that a change of it is noticed."""
        own = self.config.datasets[wildcards.dataset]
        return (
            [str(Path(own.path).expanduser())]
            if isinstance(own, CustomDataset) and own.path
            else []
        )

    def custom_dataset(self, wildcards: Any) -> str:
        """A table of the user's own as JSON, or an empty mapping."""
        own = self.config.datasets[wildcards.dataset]
        return json.dumps(
            {k: v for k, v in asdict(own).items() if k != "name"}
            if isinstance(own, CustomDataset)
            else {}
        )

    @cached_property
    def _fingerprints(self) -> dict[str, str]:
        """Fingerprints of the datasets that are wanted."""
        return {
            dataset: self.config.datasets[dataset].fingerprint() for dataset, _, _ in self._wanted
        }

    def prepare_memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for preparing a dataset."""
        return resources.asked(
            resources.preparing_memory(
                resources.shape_of(self.config.datasets[wildcards.dataset], {})
            ),
            attempt,
        )

    def memory(self, wildcards: Any, attempt: int) -> int:
        """Megabytes for a run or a probe of it."""
        run = self.run_at(wildcards)
        shape = resources.shape_of(self.config.datasets[run.dataset], run.settings)
        trained = methods()[run.method].saves_weights
        return resources.asked(
            resources.training_memory(shape, run.settings)
            if trained
            else resources.fitting_memory(shape),
            attempt,
        )

    def minutes(self, wildcards: Any, attempt: int) -> int:
        """A time limit for a run in minutes: of a training by its operations, two days for searches of large tables."""
        run = self.run_at(wildcards)
        if methods()[run.method].saves_weights:
            return resources.minutes(resources.run_flop(self.config, run), attempt)
        shape = resources.shape_of(self.config.datasets[run.dataset], run.settings)
        return min(resources.MOST_MINUTES, (240 + len(run.folds) * shape.cells // 5_000) * attempt)

    def probe(self, wildcards: Any) -> str:
        """The question that a study asks of trained models."""
        return str(KINDS[self.studies[wildcards.study].kind].probe)

    def probe_rows(self, wildcards: Any) -> str:
        """Cap on probed rows, or `all`."""
        rows = self.studies[wildcards.study].rows
        return "all" if rows is None else str(rows)

    def probe_options(self, wildcards: Any) -> str:
        """What a study chooses about its question, as JSON."""
        return json.dumps(asdict(self.studies[wildcards.study].options), sort_keys=True)

    def probe_gpus(self, wildcards: Any) -> int:
        """GPUs for a probe: one for a model with weights."""
        return int(methods()[wildcards.method].saves_weights)

    def probed_model(self, wildcards: Any) -> str:
        """What a probe makes its model of: weights, or the rows of a run, which tell the configuration that was chosen."""
        stem = self.run_at(wildcards).stem
        return (
            f"{RESULTS}/runs/{stem}{'.pt' if methods()[wildcards.method].saves_weights else ROWS}"
        )

    def collect_inputs(self, wildcards: Any) -> list[str]:
        """Run or probe files of a study, exactly those planned, and those of other machines."""
        study = self.studies[wildcards.study]
        return [
            *(self.rows_of(study, run) for run in self.runs_of(study)),
            *self.files_elsewhere(study),
        ]

    def files_elsewhere(self, study: Study) -> list[str]:
        """Other machines' files of what the study shows, and of methods that are not known here."""
        shown = {
            (dataset, method, variant) for dataset, method, variant, _ in self._selected[study.name]
        }
        files = [
            path
            for (dataset, method, variant), folds in self._elsewhere[study.name].items()
            if (dataset, method, variant) in shown
            or (dataset in study.datasets and method not in methods())
            for fold, path in folds.items()
            if fold in study.folds[dataset]
        ]
        return list(dict.fromkeys(files))

    def collect_data(self, wildcards: Any) -> list[str]:
        """Prepared datasets that other machines' files are held against."""
        study = self.studies[wildcards.study]
        return (
            [f"{RESULTS}/data/{dataset}.arrow" for dataset in study.datasets] if study.also else []
        )

    def contents(self, wildcards: Any) -> str:
        """Sixteen hex digits over what a study is made of, so that it is collected anew when that changes."""
        study = self.studies[wildcards.study]
        facts = [self.expected(study), study.also, self.collect_inputs(wildcards)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    def expected(self, study: Study) -> dict[str, dict[str, str]]:
        """What a study's files must hold, in the configuration's order: run to folds and fingerprint.

        A run that is a trial of a tuned study names what the best trial of a fold is called, and what it changes.
        """
        found: dict[str, dict[str, str]] = {}
        tried = {
            (d, m): trials(study, self.config, d, m) for d in study.datasets for m in study.methods
        }
        for dataset, method, variant, settings in self._selected[study.name]:
            folds = study.folds[dataset]
            run = Run(dataset, method, variant, folds, settings, self._fingerprints[dataset])
            found[run.name] = {"folds": format_folds(folds), "fingerprint": run.fingerprint}
            if variant in tried[dataset, method]:
                found[run.name]["trial_of"] = f"{dataset}/{method}/{TUNED}"
                found[run.name]["changes"] = json.dumps(tried[dataset, method][variant])
        return found

    def scoring(self, wildcards: Any) -> str:
        """What the configuration chooses about tables, as JSON."""
        return json.dumps(asdict(self.config.scoring), sort_keys=True)

    def preset(self, wildcards: Any) -> str:
        """Name of the configuration, shown wherever its numbers are."""
        return self.config.preset

    def study_order(self, wildcards: Any) -> str:
        """Studies and their kinds in order, as JSON."""
        return json.dumps({name: study.kind for name, study in self.studies.items()})

    def report_inputs(self, wildcards: Any) -> list[str]:
        """All tables, figures and collected studies."""
        paths = []
        for study in self.config.studies:
            paths.append(f"{RESULTS}/studies/{study.name}.csv")
            paths += [
                path
                for path in self.shown(study.name, study.kind)
                if path.endswith((".csv", ".png"))
            ]
        return paths

    def data_inputs(self, wildcards: Any) -> list[str]:
        """Prepared datasets of the plan."""
        return [f"{RESULTS}/data/{dataset}.arrow" for dataset in self.datasets]
