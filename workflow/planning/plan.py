"""Plan of a configuration: its runs, each once, and what every study consists of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.datasets import datasets as declared_datasets
from npt.data.declaration import Dataset
from npt.interface import UserError
from npt.validation import Strict
from workflow.config.models import Config
from workflow.config.reading import read_file
from workflow.config.scoring import Scoring
from workflow.config.study import Study, studies_of
from workflow.planning.external_runs import config_of, external_runs, is_collected
from workflow.planning.planned_study import (
    External,
    PlannedStudy,
    missing_folds,
    planned_study,
    run_of,
)
from workflow.planning.run import Run
from workflow.planning.selection import Selected, require_agreement, select

Selections = Mapping[str, list[Selected]]  # by study
ExternalByStudy = Mapping[str, External]


class Plan(Strict):
    """All that the steps need of a configuration.

    Attributes:
        custom_datasets: Declarations of the custom datasets, by name.
        dataset_fingerprints: Of all datasets of the plan, by name.
        runs: By stem.
        studies: By name, in the configuration's order.
    """

    preset: str
    note: str = ""
    scoring: Scoring
    custom_datasets: dict[str, CustomDataset]
    dataset_fingerprints: dict[str, str]
    runs: dict[str, Run]
    studies: dict[str, PlannedStudy]

    @classmethod
    def of(cls, config: Config) -> Plan:
        """The plan of a configuration.

        Raises:
            UserError: Settings are invalid, two studies disagree about a variant, or external
                results are malformed.
        """
        studies = studies_of(config)
        selections = {name: select(study, config) for name, study in studies.items()}
        require_agreement(selections)
        external = {name: _external_runs(study) for name, study in studies.items()}
        for name, study in studies.items():
            _require_same_settings(study, selections[name], external[name])
        fingerprints = _fingerprints(config, selections)
        wanted = _wanted_folds(studies, selections, external)
        runs = _runs(wanted, selections, fingerprints)
        planned = {
            name: planned_study(study, selections[name], external[name], runs, fingerprints)
            for name, study in studies.items()
        }
        used_custom = {
            name: dataset
            for name, dataset in config.custom_datasets.items()
            if name in fingerprints
        }
        return cls(
            preset=config.preset,
            note=config.note,
            scoring=config.scoring,
            custom_datasets=used_custom,
            dataset_fingerprints=fingerprints,
            runs={run.stem: run for run in runs},
            studies=planned,
        )

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets of the plan."""
        return sorted(self.dataset_fingerprints)

    def dataset(self, name: str) -> Dataset | CustomDataset:
        """Declaration of a dataset of the plan."""
        if name in self.custom_datasets:
            return self.custom_datasets[name]
        return declared_datasets()[name]

    def runs_of(self, study: PlannedStudy) -> list[Run]:
        """Runs of a study, external ones left out."""
        return [self.runs[stem] for stem in study.runs]

    def probed_runs_of(self, study: PlannedStudy) -> list[Run]:
        """Runs of a study that it probes."""
        return [run for run in self.runs_of(study) if study.is_probed(run.method, run.variant)]

    def probes_of(self, run: Run) -> list[PlannedStudy]:
        """Studies that probe the models of a run."""
        studies: list[PlannedStudy] = []
        for study in self.studies.values():
            if run.stem in study.runs and study.is_probed(run.method, run.variant):
                studies.append(study)
        return studies


def _external_runs(study: Study) -> External:
    return external_runs(study.external_results, f"{study.key}.external_results")


def _require_same_settings(study: Study, selected: list[Selected], external: External) -> None:
    """Raise `UserError` if rows of a collected study were made with other settings.

    Fingerprints are no help: they also change with the code that reads a dataset.
    """
    for source in filter(is_collected, study.external_results):
        where = f"{study.key}.external_results: {source}"
        config = config_of(source)
        if not config.exists():
            raise UserError(f"{where}: needs the configuration of its rows, {config}")
        theirs: dict[str, Run] = {}
        for run in Plan.of(read_file(config)).runs.values():
            theirs[run.key] = run
        for variant in selected:
            if Path(source) not in external.get(variant.key, {}).values():
                continue
            if variant.key not in theirs:
                raise UserError(f"{where}: {config} has no {variant.key}")
            run = theirs[variant.key]
            if (run.settings, run.trials) != (variant.settings, variant.trials):
                raise UserError(f"{where}: {variant.key} has other settings than in {config}")


def _fingerprints(config: Config, selections: Selections) -> dict[str, str]:
    fingerprints: dict[str, str] = {}
    for selected in selections.values():
        for variant in selected:
            if variant.dataset not in fingerprints:
                declaration = config.all_datasets[variant.dataset]
                fingerprints[variant.dataset] = declaration.fingerprint()
    return fingerprints


def _wanted_folds(
    studies: Mapping[str, Study], selections: Selections, external: ExternalByStudy
) -> dict[tuple[str, int], set[int]]:
    """Folds by run key and seed that some study needs and its external results lack."""
    wanted: dict[tuple[str, int], set[int]] = {}
    for name, study in studies.items():
        for variant in selections[name]:
            files = external[name].get(variant.key, {})
            for seed in study.seeds:
                folds = wanted.setdefault((variant.key, seed), set())
                folds.update(missing_folds(study.folds[variant.dataset], seed, files))
    return wanted


def _runs(
    wanted: Mapping[tuple[str, int], set[int]],
    selections: Selections,
    fingerprints: Mapping[str, str],
) -> list[Run]:
    """Runs whose folds are cut into blocks as the method declares."""
    by_key: dict[str, Selected] = {}
    for selected in selections.values():
        for variant in selected:
            by_key.setdefault(variant.key, variant)
    runs: list[Run] = []
    for (key, seed), wanted_folds in wanted.items():
        folds = sorted(wanted_folds)
        variant = by_key[key]
        size = methods()[variant.method].folds_per_job(variant.settings) or max(1, len(folds))
        for start in range(0, len(folds), size):
            block = tuple(folds[start : start + size])
            runs.append(run_of(variant, seed, block, fingerprints))
    return runs
