"""A run: a method's variant with one seed on a block of folds of a dataset."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from baselines import methods
from npt.train_rows import TrainRows
from npt.validation import Strict
from workflow.config.folds import format_folds
from workflow.planning import paths

SEED_STRIDE = 10_000  # more than there are folds


class Run(Strict):
    """One training or fitting job.

    Attributes:
        seed: Random seed of the training, as in `seeds` of the configuration.
        settings: Resolved settings of the method; of a search, those of its base.
        trials: Resolved settings of the configurations of a search by name; else empty.
        data: Fingerprint of the dataset's declaration.
        train: What it is trained on of the train rows.
    """

    dataset: str
    method: str
    variant: str
    seed: int = 0
    folds: tuple[int, ...] = ()
    settings: dict[str, Any]
    data: str
    trials: dict[str, dict[str, Any]] = Field(default_factory=dict)
    train: TrainRows = TrainRows()

    @property
    def key(self) -> str:
        """dataset/method/variant."""
        return f"{self.dataset}/{self.method}/{self.variant}"

    @property
    def stem(self) -> str:
        """Identity of the run in paths."""
        return paths.RUN.format(**{**dict(self), "folds": format_folds(self.folds)})

    @property
    def files(self) -> list[Path]:
        """All results of the run."""
        method = methods()[self.method]
        files = [paths.run_rows(self.stem), paths.run_predictions(self.stem)]
        if method.saves_weights:
            files.append(paths.run_weights(self.stem))
        if method.searches:
            files.append(paths.run_trials(self.stem))
        return files

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits over the run's configuration and method version, folds left out."""
        facts: list[Any] = [self.dataset, self.data, self.method, self.seed, self.settings]
        if self.trials:
            facts.append(self.trials)
        if self.train.share != 1.0:
            facts.append(self.train.share)
        if self.train.labels is not None:
            facts.append(self.train.model_dump())
        version = methods()[self.method].version
        if version > 1:
            facts.append(version)
        return hash_of(facts)

    @property
    def trainings(self) -> list[Run]:
        """The configurations of a search as runs of their own; else the run itself."""
        if not self.trials:
            return [self]
        return [self.trial(name) for name in self.trials]

    def trial(self, name: str) -> Run:
        """A configuration of a search, as a run of its own."""
        return self.changed(variant=name, settings=self.trials[name], trials={})

    def changes_of(self, name: str) -> dict[str, Any]:
        """Settings of a configuration that differ from the base."""
        settings = self.trials[name]
        return {key: value for key, value in settings.items() if value != self.settings[key]}

    def training_seed(self, fold: int) -> int:
        """Seed of the random numbers of the training on a fold."""
        return fold + SEED_STRIDE * self.seed


def hash_of(facts: Any) -> str:
    """Sixteen hex digits over plain values."""
    text = json.dumps(facts, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    return digest.hexdigest()[:16]
