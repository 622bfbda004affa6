"""The contract between data, methods and the evaluator: numpy and the standard library only."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from npt.provenance import installed_version
from npt.table import Image, Split, Table, Task
from npt.wording import listed

if TYPE_CHECKING:
    from npt.data.encoding import Statistics
    from npt.perturbation import Perturbation


class UserError(Exception):
    """An error that the user can correct.

    Its message is one line: the key or file, what was found and what is allowed.
    """


MOST_NAMED = 60  # allowed names that an error lists


def unknown(name: Any, allowed: Iterable[str]) -> str:
    """Part of an error message about an unknown name, with the nearest allowed one.

    Example:
        `'yact' is unknown; did you mean 'yacht'? allowed: concrete, yacht`
    """
    names = list(allowed)
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{name!r} is unknown; {hint}allowed: {listed(map(str, names), MOST_NAMED)}"


@dataclass(frozen=True)
class Prediction:
    """Class probabilities (n, C), or target values (n,) in original units."""

    values: np.ndarray


@dataclass(frozen=True)
class Trial:
    """One configuration of a search.

    Attributes:
        parameters: Hyper-parameters of the configuration.
        validation_loss: NaN if the configuration failed.
        reason: Why it failed; empty if it did not.
        fit: Number of the model that was trained for it, from 1. Configurations with equal
            numbers shared a model. 0 if it failed.
        seconds: Training time of that model.
    """

    parameters: Mapping[str, Any]
    validation_loss: float
    reason: str
    fit: int
    seconds: float


@dataclass(frozen=True)
class Duplicates:
    """The lookup task for methods that take numbers alone.

    Attributes:
        originals: Features (n, F) of the original rows.
        duplicates: Features (n, F) of their duplicates.
        shown: Standardised targets (n,) that the duplicates reveal.
    """

    originals: np.ndarray
    duplicates: np.ndarray
    shown: np.ndarray


class Infeasible(Exception):
    """A method cannot produce a result (memory, unsupported data); the reason enters the tables.

    A search in which every configuration failed attaches its trials.
    """

    def __init__(self, reason: str, trials: Sequence[Trial] = ()) -> None:
        super().__init__(reason)
        self.trials = trials


@dataclass(frozen=True)
class Fit:
    """Summary of a training.

    Attributes:
        chosen: Hyper-parameters of the final model, as far as a search chose them.
        validation_loss: Validation loss of the final model.
        fits: Number of models that were trained.
        parameters: Number of weights of the final model, where it has any.
        earlier_seconds: Training time before an interruption.
        trials: All configurations of a search, in the order of its grid.
        grid: Number of configurations in the grid.
        models: Number of distinct models among the trials.
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
    """A method of the benchmark: NPT or a baseline."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train on a blind table: the targets of the test rows are missing."""
        ...

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict validation or test rows of the table given to `fit`."""
        ...


class Savable(Learner, Protocol):
    """A learner that can write its weights after `fit`, for the `load` of its method."""

    def save(self, path: Path) -> None:
        """Write the weights."""
        ...


class ContextModel(Protocol):
    """A trained model that predicts a row in the context of other rows; what a probe requires."""

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict test rows of the table that the model was trained on."""
        ...

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict test rows, each with the other rows perturbed by independent draws."""
        ...


class RowModel(ContextModel, Protocol):
    """A trained model that predicts a row from stored rows of the table, its context.

    Its context consists of row numbers of the table of N rows. Duplicates of the lookup task are
    numbered from N: that of row i is N + i.
    """

    @property
    def task(self) -> Task:
        """Task of the target column."""
        ...

    @property
    def target(self) -> int:
        """Index of the target column."""
        ...

    @property
    def statistics(self) -> Statistics:
        """Centre and scale of the columns of the training table."""
        ...


class QueryGroup(Protocol):
    """Query rows that are predicted together, each among some rows of its own context."""

    @property
    def rows(self) -> np.ndarray:
        """Row numbers (q,) of the queries."""
        ...

    @property
    def contexts(self) -> Sequence[np.ndarray]:
        """Row numbers (m,) of each query's context, which the query is not part of."""
        ...

    def predict(self, queries: Sequence[int], kept: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions (k,), or probabilities (k, C), of k queries.

        Args:
            queries: Indices among the group's rows.
            kept: For each of them, ascending indices of its context that remain, at least one.
        """
        ...


class ReducibleModel(RowModel, Protocol):
    """A model that predicts a row from a part of its context (`reduce`)."""

    def query_groups(self, rows: np.ndarray) -> Iterator[QueryGroup]:
        """Groups that hold each of the test rows once, in any order."""
        ...


@dataclass(frozen=True)
class RowAttention:
    """Attention of a query row to its context.

    Attributes:
        row: Row number of the query.
        context: Row numbers (m,) of the context.
        weights: Weights (H, m) of the heads between datapoints, by the index of their layer.
    """

    row: int
    context: np.ndarray
    weights: Mapping[int, np.ndarray]


class AttentionModel(RowModel, Protocol):
    """A model that attends to its context (`attention`)."""

    @property
    def seed(self) -> int:
        """Seed of the training."""
        ...

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Attention of each of the test rows, in any order."""
        ...

    def before_training(self) -> AttentionModel | None:
        """The same network with its initial weights; None for a model that learns nothing."""
        ...


@dataclass(frozen=True)
class Intervention:
    """Predictions of n rows while the target on their own duplicate is swept.

    Attributes:
        values: Values (K,) of the target, in original units.
        predictions: Predictions (n, K) of the rows, in original units.
        others: Largest change (n,) that a sweep caused in the prediction of any other row.
    """

    values: np.ndarray
    predictions: np.ndarray
    others: np.ndarray


class LookupModel(RowModel, Protocol):
    """A regression model in whose context rows have duplicates with their targets (`lookup`)."""

    @property
    def lookup(self) -> str:
        """Variant of the lookup task, such as `original`; `off` for a model of the plain task."""
        ...

    @property
    def transductive(self) -> bool:
        """Whether features are standardised over all rows, or the train rows."""
        ...

    def with_table(self, table: Table, split: Split) -> LookupModel:
        """The same model on another table, whose duplicates show the targets that it has."""
        ...

    def without_duplicates(self) -> ContextModel:
        """The same model with no target in its context."""
        ...

    def intervention(self, rows: np.ndarray, sweep: int = 10) -> Intervention:
        """Set the target of one duplicate at a time to `sweep` values over the range of targets."""
        ...


class RecallingModel(RowModel, Protocol):
    """A model that can predict rows from their duplicates, without training for it (`lookup`)."""

    def with_duplicates(self, lookup: str, rows: np.ndarray, shown: Duplicates) -> LookupModel:
        """The model among duplicates of some rows (n,), as a variant of the task shows them."""
        ...


Ability = Literal["reduce", "attention", "lookup"]
Dependence = Literal["certain", "none", "unknown"]


@dataclass(frozen=True)
class Resources:
    """What a learner may use.

    Attributes:
        threads: CPU threads.
        device: `auto`, `cpu` or a torch device such as `cuda:0`.
        checkpoint: File for the state of a long training or search, from which it resumes.
        checkpoint_minutes: Time between two writes of the checkpoint.
        metrics: CSV file for metrics during the training.
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
    """`folds_per_job` of a method whose fits are short."""
    return None


def one_fold(settings: Mapping[str, Any]) -> int | None:
    """`folds_per_job` of a method whose fits are long, or that saves weights."""
    return 1


def supports_every_task(task: Task) -> str | None:
    """`supports` of a method without limits."""
    return None


LoadModel = Callable[[Any, Resources, Path, Table, Split, int], ContextModel]
CountOperations = Callable[[Any, int, int, Image | None], int]
RefitModel = Callable[[Any, Mapping[str, Any], Resources, Table, Split, int], ContextModel]


@dataclass(frozen=True)
class Method:
    """Declaration of a method.

    Attributes:
        name: Identifier; that of its module.
        title: Name in tables and figures.
        settings: Class of its settings, whose defaults are the paper's.
        build: Returns a learner from an instance of `settings`.
        supports: Returns the reason for refusing a task, or None.
        draw: Returns random changes of settings for a tuning trial, by seed. A method without
            it tunes itself during `fit`, within the `budget` of its settings.
        folds_per_job: Returns the largest number of folds that share a process, by the
            resolved settings; None for no limit.
        saves_weights: Whether its learner is `Savable`.
        accelerated: Whether it computes on a GPU where the profile has one.
        searches: Whether it reports trials.
        version: Raised by hand when its predictions change, so that its runs are made anew.
        libraries: Distributions whose versions its rows record.
        test_settings: Changes of settings that make it small enough for tests.
        twins: Blind twins by name: changes of settings that train the same model without one
            source of information. They show whether a model benefits from what it depends on.
        load: Returns the model that a probe examines, from saved weights.
        update_flop: Returns the operations of a training step, by an instance of `settings`, rows
            and columns of the table, and the layout of its images; for methods with weights.
        refit: Returns that model by training with the hyper-parameters that a search chose
            (`chosen` of its row); for methods without weights.
        abilities: What this model can do for probes besides perturbation: `reduce` for a
            `ReducibleModel`, `attention` for an `AttentionModel`, `lookup` for a
            `LookupModel` or a `RecallingModel`.
        dependence: What is known before any probe of whether predictions depend on other rows:
            `certain` for a method that predicts from them alone, `none` for one that predicts
            each row by itself. These are the controls of studies.
        realisations: Whether it learns from many tables, and takes datasets of them alone.
        extra: Extra of this project's installation that brings its `libraries`; empty if they are
            installed for all.
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
    version: int = 1
    libraries: tuple[str, ...] = ()
    test_settings: Mapping[str, Any] = field(default_factory=dict)
    twins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    load: LoadModel | None = None
    update_flop: CountOperations | None = None
    refit: RefitModel | None = None
    abilities: tuple[Ability, ...] = ()
    dependence: Dependence = "unknown"
    realisations: bool = False
    extra: str = ""

    def __post_init__(self) -> None:
        assert not self.saves_weights or self.folds_per_job is one_fold, (
            "a file of weights holds those of one fold"
        )

    def refusal(self, task: Task, *, realisations: bool) -> str | None:
        """The reason for refusing a dataset, or None.

        Args:
            realisations: Whether the dataset is of many tables.
        """
        if self.realisations and not realisations:
            return "learns from many tables, and this is one"
        if realisations and not self.realisations:
            return "learns from one table, and these are many"
        return self.supports(task)

    def require_libraries(self) -> None:
        """Check that the libraries of the method's extra are installed.

        Raises:
            UserError: Names the first that is missing, and how to install it.
        """
        if not self.extra:
            return
        for library in self.libraries:
            if installed_version(library) is None:
                raise UserError(
                    f"{self.name}: needs the package {library}, which is not installed; "
                    f"pip install -c constraints.txt -e '.[{self.extra}]'"
                )
