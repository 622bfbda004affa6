"""The contract between data, methods and the evaluator: numpy and the standard library only."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from npt.table import Split, Table, Task

if TYPE_CHECKING:
    from npt.perturbation import Perturbation

Mode = Literal["train", "validation", "test"]


class UserError(Exception):
    """A mistake the user can mend; its message is one line that names the place and what is allowed."""


def unknown(name: Any, allowed: Iterable[str]) -> str:
    """What a message says of a name that is not allowed, with the nearest one that is."""
    allowed = list(allowed)
    near = difflib.get_close_matches(str(name), allowed, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{name!r} is unknown; {hint}allowed: {', '.join(allowed)}"


@dataclass(frozen=True)
class Prediction:
    """Class probabilities (n, C), or target values (n,) in original units."""

    values: np.ndarray


@dataclass(frozen=True)
class Trial:
    """A configuration that a learner tried: its validation loss, or the reason why it has none.

    `fit` numbers the models that were trained, from 1; configurations with the same number shared one, which took `seconds`.
    One that failed has 0.
    """

    parameters: Mapping[str, Any]
    validation_loss: float
    reason: str
    fit: int
    seconds: float


@dataclass(frozen=True)
class Duplicates:
    """The lookup task for methods that take numbers alone: features (n, F) of the originals and of their duplicates.

    `shown` (n,) are the targets that the duplicates show, standardised.
    """

    originals: np.ndarray
    duplicates: np.ndarray
    shown: np.ndarray


class Infeasible(Exception):
    """A method cannot produce a result here (memory, unsupported data); the reason enters the tables.

    A search whose every configuration failed passes on its trials.
    """

    def __init__(self, reason: str, trials: Sequence[Trial] = ()) -> None:
        super().__init__(reason)
        self.trials = trials


@dataclass(frozen=True)
class Fit:
    """What a learner tells about its training; `earlier_seconds` are those before an interruption.

    A learner that searches a grid tells its size, all `trials` in the grid's order, how many different `models` are among them,
    and the seconds it took to fit the winner again, if it did.
    """

    chosen: Mapping[str, Any]
    validation_loss: float
    fits: int
    parameters: int | None = None
    earlier_seconds: float = 0.0
    trials: Sequence[Trial] = ()
    grid: int | None = None
    models: int | None = None


class Learner(Protocol):
    """Anything that can be put into the benchmark: NPT and every baseline."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train on a blind table: the targets of the test rows are missing."""
        ...

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict validation or test rows of the table given to `fit`."""
        ...


class Savable(Learner, Protocol):
    """A learner that can write its weights after `fit`, so that its method can `load` them later."""

    def save(self, path: Path) -> None:
        """Write the weights."""
        ...

    def load(self, path: Path, table: Table, split: Split, seed: int) -> None:
        """Read weights written by `save` for the same table and split."""
        ...


class ContextModel(Protocol):
    """A trained model that predicts a row with other rows in view: all that a probe needs of any method."""

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict test rows of the table that the model was trained on."""
        ...

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict test rows, each with the other rows perturbed by draws of its own."""
        ...


@dataclass(frozen=True)
class Resources:
    """Where a learner may run: CPU threads, and `auto`, `cpu` or a torch device name such as `cuda:0`.

    A learner that trains for long may keep its state at `checkpoint`, written every `checkpoint_minutes`, to go on from there
    after an interruption, and its metrics in the CSV `metrics`.
    """

    threads: int = 1
    device: str = "auto"
    checkpoint: Path | None = None
    checkpoint_minutes: float = 10.0
    metrics: Path | None = None

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise UserError(f"threads: {self.threads} is not a positive number")


def all_folds(settings: Mapping[str, Any]) -> int | None:
    """The `folds_per_job` of a method whose fits are short."""
    return None


def one_fold(settings: Mapping[str, Any]) -> int | None:
    """The `folds_per_job` of a method whose fits are long, or leave weights."""
    return 1


def supports_every_task(task: Task) -> str | None:
    """The `supports` of a method without limits."""
    return None


# What the results of every method depend on: how a table becomes arrays, and how predictions are scored.
DATA_SOURCES = (
    "npt/interface.py",
    "npt/table.py",
    "npt/data/encoding.py",
    "npt/data/dtypes.py",
    "npt/perturbation.py",
    "npt/seeding.py",
    "npt/evaluation.py",
    "npt/metrics.py",
)


@dataclass(frozen=True)
class Method:
    """Declaration of a method.

    `settings` is the class of its settings, whose defaults are the paper's. `build` makes a learner from an instance of it.
    `supports` returns the reason for refusing a task, or None. `draw` gives changes of settings for a tuning trial, by seed;
    a method without it tunes itself inside its fit, within the `budget` of its settings. `folds_per_job` bounds the folds
    that share a process, by the resolved settings; None puts all into one. A method that is `accelerated` computes on a
    GPU where a profile says so; one that `searches` reports all its trials.

    A probe gets its model from `load`, which reads the weights that a learner saved, or else from `refit`, which trains
    again with the parameters that a search chose (`chosen` of its row). `libraries` are the distributions whose versions
    its rows record, `sources` the files of this project that determine its results, and `test_settings` the changes of
    settings that make it small enough for tests.
    """

    name: str
    title: str
    settings: type
    build: Callable[[Any, Resources], Learner]
    supports: Callable[[Task], str | None] = supports_every_task
    draw: Callable[[Any, str], dict[str, Any]] | None = None
    folds_per_job: Callable[[Mapping[str, Any]], int | None] = all_folds
    saves_weights: bool = False
    accelerated: bool = False
    searches: bool = False
    sources: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    test_settings: Mapping[str, Any] = field(default_factory=dict)
    load: Callable[[Any, Resources, Path, Table, Split, int], ContextModel] | None = None
    refit: Callable[[Any, Mapping[str, Any], Resources, Table, Split, int], ContextModel] | None = (
        None
    )

    def __post_init__(self) -> None:
        assert not self.saves_weights or self.folds_per_job is one_fold, (
            "a file of weights holds those of one fold"
        )
