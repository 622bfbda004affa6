"""Plan of a configuration: its runs, each once, and what every study consists of."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from npt.validation import Strict
from workflow.config.scoring import Scoring
from workflow.planning.run import Run


class Expected(Strict):
    """A row that a study needs.

    Attributes:
        fingerprint: That of the run, which the row must carry.
        trial_of: Key of the tuned variant that this row is a trial of, or None.
        changes: What a trial changes in the base.
    """

    dataset: str
    method: str
    variant: str
    seed: int
    fold: int
    fingerprint: str
    trial_of: str | None = None
    changes: dict[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """dataset/method/variant."""
        return f"{self.dataset}/{self.method}/{self.variant}"


class PlannedStudy(Strict):
    """Runs and rows of a study.

    Attributes:
        options: Those of the study kind, as plain values.
        max_test_rows: Limit of the probed test rows of a fold; None probes all.
        runs: Stems of the runs made here, with those folds that the study uses.
        expected: All rows of known methods in the configuration's order, external ones included.
        external_results: Results folders and csv files as the configuration names them.
    """

    name: str
    kind: str
    options: dict[str, Any]
    max_test_rows: int | None
    runs: dict[str, tuple[int, ...]]
    expected: tuple[Expected, ...]
    external_results: tuple[str, ...] = ()


class Plan(Strict):
    """All that the steps need of a configuration.

    Attributes:
        custom_datasets: Declarations of the custom datasets, by name.
        dataset_fingerprints: Of all datasets of the plan, by name.
        runs: By stem.
        studies: By name, in the configuration's order.
    """

    preset: str
    scoring: Scoring
    custom_datasets: dict[str, dict[str, Any]]
    dataset_fingerprints: dict[str, str]
    runs: dict[str, Run]
    studies: dict[str, PlannedStudy]

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets of the plan."""
        return sorted(self.dataset_fingerprints)

    def runs_of(self, study: PlannedStudy) -> list[Run]:
        """Runs of a study that are made here."""
        return [self.runs[stem] for stem in study.runs]
