"""What a baseline file declares: its grids (paper Tables 17 to 25), how it fits, and which configurations share a fit."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from npt.data.encoding import coded_features, one_hot_features, statistics
from npt.interface import Duplicates, Resources, UserError, supports_every_task, unknown
from npt.table import TASKS, Split, Table, Task

Grid = Mapping[str, Sequence[Any]]
Parameters = Mapping[str, Any]
Size = Literal["small", "medium", "large"]
SIZES: tuple[Size, ...] = get_args(Size)
MEDIUM_ROWS, LARGE_ROWS = 10_000, 200_000


@dataclass(frozen=True)
class TrainingData:
    """Features and targets of the train and validation rows, the features of all rows, and what they are.

    `target` is (N,): class codes, or standardised values; NaN where hidden. `categorical` and `sizes` are the positions
    and numbers of codes of coded categories, empty for one-hot features. `columns` are, for each feature, the column of the
    table (counted without the target) that it encodes.
    """

    features: np.ndarray
    target: np.ndarray
    train: np.ndarray
    validation: np.ndarray
    task: Task
    classes: int
    categorical: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return self.task == "regression"


# Predicts (features, configurations): for each of the configurations it serves, class probabilities (n, K) over the classes
# of the train rows in ascending order, or standardised values (n,).
Fitted = Callable[[np.ndarray, Sequence[Parameters]], Sequence[np.ndarray]]
# Trains one model (data, configurations, seed, resources) that serves all the configurations, which differ in shared
# parameters alone.
Fitter = Callable[[TrainingData, Sequence[Parameters], int, Resources], Fitted]


def shares_nothing(parameters: Parameters) -> tuple[str, ...]:
    """The `shared` of a baseline whose every configuration needs a fit of its own."""
    return ()


def as_given(parameters: Parameters, data: TrainingData) -> Parameters:
    """The `model` of a baseline whose every configuration is another model."""
    return parameters


@dataclass(frozen=True)
class BaselineSettings:
    """`grid` names a declared grid (`paper`, `quick`) or is one: parameter to list of values.

    `fixed` sets parameters that the grid does not tune, for every configuration. `budget` bounds how many different models are
    tried on a fold: so many are drawn from the grid, the same on every fold; `minutes` bounds how long new fits are begun, in a
    drawn order; None tries all. `native_categories` gives categories to the library as such instead of one-hot,
    `native_missing` gives it missing numbers as such instead of the column's mean.
    """

    grid: str | dict[str, list[Any]] = "paper"
    fixed: dict[str, Any] = field(default_factory=dict)
    budget: int | None = None
    minutes: float | None = None
    native_categories: bool = False
    native_missing: bool = False

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise UserError(f"budget: {self.budget} is not a positive number of configurations")
        if self.minutes is not None and not self.minutes > 0:
            raise UserError(f"minutes: {self.minutes} is not a positive number of minutes")


@dataclass(frozen=True)
class Baseline:
    """Declaration of a baseline.

    `fit` trains one model for configurations that share it: those that differ only in the parameters that `shared` names.
    `model` reduces a configuration to what determines its model; configurations that reduce to the same are fitted once.
    Both see all parameters, `fixed` ones included. `quick` and `paper` are grids; the paper's may be given per size of the
    training set, or per kind of task. `codes` asks for coded categories always, `native` can take them, and one that
    `takes_missing` can take missing numbers, as NaN. A `slow` baseline
    gets a job for each fold, an `accelerated` one can use a GPU. `sources` are further files that determine its results. One
    that predicts from stored train rows has `stored`, which makes its prediction function of other train rows with nothing
    learnt anew; the others' predictions are made of the row and their parameters alone. `recall` is how a baseline answers the
    lookup task, if not by being fitted to the duplicates: after having learnt from the train rows, it gives standard values.
    """

    name: str
    title: str
    fit: Fitter
    quick: Callable[[Task], Grid]
    paper: Callable[[Task, Size], Grid | list[Grid]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    shared: Callable[[Parameters], tuple[str, ...]] = shares_nothing
    model: Callable[[Parameters, TrainingData], Parameters] = as_given
    codes: bool = False
    native: bool = False
    takes_missing: bool = False
    slow: bool = False
    accelerated: bool = False
    supports: Callable[[Task], str | None] = supports_every_task
    sources: tuple[str, ...] = ()
    stored: Callable[[TrainingData, Parameters, Resources], Fitted] | None = None
    recall: Callable[[TrainingData, Parameters, int, Resources, Duplicates], np.ndarray] | None = (
        None
    )

    def configurations(
        self, settings: BaselineSettings, task: Task, train_rows: int
    ) -> Iterator[dict[str, Any]]:
        """Every configuration of the grid in scikit-learn's order: parameters by name, the last one changes fastest.

        Raises:
            UserError: the grid is unknown or has a parameter the baseline does not tune.
        """
        for grid in self.grids(settings, task, train_rows):
            names = sorted(grid)
            for values in itertools.product(*(grid[name] for name in names)):
                yield dict(zip(names, values, strict=True))

    def grids(self, settings: BaselineSettings, task: Task, train_rows: int) -> list[Grid]:
        """The grids that the settings name; a configuration is a point of one of them.

        Raises:
            UserError: the grid is unknown or has a parameter the baseline does not tune.
        """
        paper = self._paper(task, size_of(train_rows))
        tuned = set(paper[0]) if isinstance(settings.grid, str) else set(settings.grid)
        if both := sorted(tuned & set(settings.fixed)):
            raise UserError(
                f"{self.name}.fixed.{both[0]}: is tuned by the grid; give the values to try in a grid of your own"
            )
        if settings.grid == "paper":
            return paper
        if settings.grid == "quick":
            return [self.quick(task)]
        if isinstance(settings.grid, str):
            raise UserError(
                f"{self.name}.grid: {settings.grid!r} is not known; allowed: paper, quick, or a mapping of lists"
            )
        tunable = self._tunable()
        if not settings.grid:
            raise UserError(
                f"{self.name}.grid: is empty; allowed: paper, quick, or lists for {', '.join(tunable)}"
            )
        for name, values in settings.grid.items():
            where = f"{self.name}.grid.{name}"
            if name not in tunable:
                raise UserError(f"{where}: not a tuned parameter; allowed: {', '.join(tunable)}")
            if not values:
                raise UserError(f"{where}: has no values")
            text = [value for value in values if isinstance(value, str)]
            if text and all(isinstance(value, int | float) for value in tunable[name]):
                raise UserError(
                    f"{where}: {text[0]!r} is text, not a number; YAML reads 1e-3 as text and 1.0e-3 as a number"
                )
        return [settings.grid]

    def _paper(self, task: Task, size: Size) -> list[Grid]:
        grids = self.paper(task, size)
        return grids if isinstance(grids, list) else [grids]

    def _tunable(self) -> dict[str, list[Any]]:
        """The parameters of the paper's grids for tables of any size, and their values."""
        found: dict[str, list[Any]] = {}
        for task, size in itertools.product(TASKS, SIZES):
            for grid in self._paper(task, size):
                for name, values in grid.items():
                    found.setdefault(name, []).extend(values)
        return found


def size_of(train_rows: int) -> Size:
    """The size class by which the paper chose its grids."""
    return "small" if train_rows < MEDIUM_ROWS else "medium" if train_rows < LARGE_ROWS else "large"


def seen_classes(data: TrainingData) -> np.ndarray:
    """Codes of the classes that occur in the train rows, ascending."""
    return np.unique(data.target[data.train]).astype(int)


def train_labels(data: TrainingData) -> np.ndarray:
    """Targets of the train rows; classes are renumbered 0 .. K-1 over those seen, as some libraries require."""
    target = data.target[data.train]
    return target if data.is_regression else np.searchsorted(seen_classes(data), target)


def require_known(parameters: Parameters, known: Sequence[str], title: str) -> None:
    """Raise `UserError` for a parameter that is not among those of an estimator or method."""
    for name in parameters:
        if name not in known:
            raise UserError(f"fixed: {unknown(name, known)} ({title})")


def build(kind: type, parameters: Parameters, **own: Any) -> Any:
    """An estimator of a library with some parameters, and with those of our own that they leave open.

    Raises:
        UserError: it has no such parameter; some libraries would ignore it in silence.
    """
    known = {
        name for base in kind.__mro__ for name in inspect.signature(base.__init__).parameters
    } - {"self", "args", "kwargs"}
    require_known(parameters, sorted(known), kind.__name__)
    return kind(**{**own, **parameters})


def fit_estimator(estimator: Any, data: TrainingData) -> Any:
    """Fit a scikit-learn style estimator on the train rows; gives its prediction function."""
    estimator.fit(data.features[data.train], train_labels(data))
    return prediction_function(estimator, data)


def prediction_function(estimator: Any, data: TrainingData) -> Any:
    """What gives a fitted estimator's values or class probabilities."""
    return estimator.predict if data.is_regression else estimator.predict_proba


def serving_one(predict: Callable[[np.ndarray], np.ndarray]) -> Fitted:
    """The prediction function of a model that serves a single configuration."""
    return lambda features, configurations: [predict(features) for _ in configurations]


def prior(data: TrainingData) -> Fitted:
    """Predicts the mean, or the shares of the classes, of the train rows."""
    labels = train_labels(data)
    constant = labels.mean() if data.is_regression else np.bincount(labels) / len(labels)
    return lambda features, configurations: [
        np.repeat(constant[None], len(features), 0) for _ in configurations
    ]


def training_data(table: Table, split: Split, *, codes: bool, missing: float = 0.0) -> TrainingData:
    """Features and standardised target of a table; `codes` leaves categories integers, `missing` stands for missing numbers."""
    known = statistics(table, split)
    target = (table.truth - known.centre[table.target]) / known.scale[table.target]
    labelled = ~np.isnan(target)
    train, validation = (
        split.train[labelled[split.train]],
        split.validation[labelled[split.validation]],
    )
    common = {"target": target, "train": train, "validation": validation, "task": table.task}
    common["classes"] = table.columns[table.target].size
    if not codes:
        sizes = [column.size for j, column in enumerate(table.columns) if j != table.target]
        columns = tuple(place for place, size in enumerate(sizes) for _ in range(size))
        return TrainingData(
            one_hot_features(table, known, missing=missing), columns=columns, **common
        )
    coded = coded_features(table, known, missing=missing)
    kinds = {"categorical": tuple(coded.categorical), "sizes": tuple(coded.sizes)}
    return TrainingData(
        coded.values, columns=tuple(range(coded.values.shape[1])), **kinds, **common
    )
