"""What a study consists of: its runs and the rows that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baselines import methods
from npt.validation import Strict
from workflow.config.fields import BASE
from workflow.config.study import Study
from workflow.planning.paths import run_key
from workflow.planning.run import Run
from workflow.planning.selection import Selected


@dataclass(frozen=True, slots=True)
class Expected:
    """A row that a study needs; there are many, so they take little memory.

    Attributes:
        fingerprint: That of the run, which the row must carry.
    """

    dataset: str
    method: str
    variant: str
    seed: int
    fold: int
    fingerprint: str

    @property
    def key(self) -> str:
        """dataset/method/variant."""
        return run_key(self.dataset, self.method, self.variant)


class PlannedStudy(Strict):
    """Runs and rows of a study.

    Attributes:
        probes: Whether its rows are those of a probe of the runs.
        trains_variants: Whether it probes the base runs alone, and has the rows of other variants.
        unprobed: Methods that it has trained rows of alone.
        options: Those of the study kind, as plain values.
        max_test_rows: Limit of the probed test rows of a fold; None probes all.
        runs: Stems of its runs, with those folds that the study uses.
        expected: The rows of its runs in the configuration's order.
        external_results: Csv files with rows of other methods.
    """

    name: str
    kind: str
    probes: bool = False
    trains_variants: bool = False
    unprobed: tuple[str, ...] = ()
    options: dict[str, Any]
    max_test_rows: int | None
    runs: dict[str, tuple[int, ...]]
    expected: tuple[Expected, ...]
    external_results: tuple[str, ...] = ()

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets of the study, in its order."""
        return list(dict.fromkeys(row.dataset for row in self.expected))

    def is_probed(self, method: str, variant: str) -> bool:
        """Whether the rows of a variant of a method are those of a probe."""
        if not self.probes or method in self.unprobed:
            return False
        return variant == BASE or not self.trains_variants


def planned_study(
    study: Study,
    selected: list[Selected],
    runs: list[Run],
    fingerprints: Mapping[str, str],
) -> PlannedStudy:
    """The plan of a study, given all runs and the fingerprints of the datasets."""
    expected: list[Expected] = []
    for variant in selected:
        for seed in study.seeds:
            expected += _expected(study, variant, seed, fingerprints)
    return PlannedStudy(
        name=study.name,
        kind=study.kind.name,
        probes=study.kind.probes,
        trains_variants=study.kind.trains_variants,
        unprobed=_unprobed(study),
        options=study.options.model_dump(),
        max_test_rows=study.max_test_rows,
        runs=_runs_of(study, selected, runs),
        expected=tuple(expected),
        external_results=study.external_results,
    )


def _unprobed(study: Study) -> tuple[str, ...]:
    """Methods that a kind trains, and cannot probe."""
    if not study.kind.trains_variants:
        return ()
    able = study.kind.can_probe
    return tuple(name for name in study.methods if not able(methods()[name]))


def _expected(
    study: Study, selected: Selected, seed: int, fingerprints: Mapping[str, str]
) -> list[Expected]:
    folds = study.folds[selected.dataset]
    fingerprint = run_of(selected, seed, folds, fingerprints).fingerprint
    return [
        Expected(
            dataset=selected.dataset,
            method=selected.method,
            variant=selected.variant,
            seed=seed,
            fold=fold,
            fingerprint=fingerprint,
        )
        for fold in folds
    ]


def _runs_of(
    study: Study,
    selected: list[Selected],
    runs: list[Run],
) -> dict[str, tuple[int, ...]]:
    keys = {variant.key for variant in selected}
    folds_by_stem: dict[str, tuple[int, ...]] = {}
    for run in runs:
        if run.key not in keys or run.seed not in study.seeds:
            continue
        folds = tuple(fold for fold in run.folds if fold in study.folds[run.dataset])
        if folds:
            folds_by_stem[run.stem] = folds
    return folds_by_stem


def run_of(
    selected: Selected, seed: int, folds: tuple[int, ...], fingerprints: Mapping[str, str]
) -> Run:
    """A run of a selected variant."""
    return Run(
        dataset=selected.dataset,
        method=selected.method,
        variant=selected.variant,
        seed=seed,
        folds=folds,
        settings=selected.settings,
        data=fingerprints[selected.dataset],
        trials=dict(selected.trials),
        train_share=selected.train_share,
    )
