"""The paper's grid search (Appendix E.2): every configuration is fitted on the train rows and scored on the validation rows."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from npt.encoding import coded_features, one_hot_features, statistics
from npt.interface import Fit, Infeasible, Method, Prediction, Resources, Split, Table, Task, UserError
from npt.metrics import negative_log_likelihood

Grid = Mapping[str, Sequence[Any]]
Size = Literal["small", "medium", "large"]
MEDIUM_ROWS, LARGE_ROWS = 10_000, 200_000


@dataclass(frozen=True)
class TrainingData:
    """Features and targets of the train and validation rows, the features of all rows, and what they are.

    `target` is (N,): class codes, or standardised values; NaN where hidden. `categorical` and `sizes` are the positions
    and numbers of codes of coded categories, empty for one-hot features.
    """

    features: np.ndarray
    target: np.ndarray
    train: np.ndarray
    validation: np.ndarray
    task: Task
    classes: int
    categorical: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return self.task == "regression"


Fitted = Callable[[np.ndarray], np.ndarray]
Fitter = Callable[[TrainingData, Mapping[str, Any], int, Resources], Fitted]


@dataclass(frozen=True)
class BaselineSettings:
    """`grid` names a declared grid (`paper`, `quick`) or is one: parameter to list of values.

    `fixed` replaces fixed parameters of the baseline for every configuration. `budget` bounds how many configurations are
    tried: so many are drawn from the grid, the same on every fold; None tries all.
    """

    grid: str | dict[str, list[Any]] = "paper"
    fixed: dict[str, Any] = field(default_factory=dict)
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise UserError(f"budget: {self.budget} is not a positive number of configurations")


@dataclass(frozen=True)
class Baseline:
    """Declaration of a baseline.

    `fit` trains one configuration and returns its prediction function: class probabilities (n, C) over the classes seen
    in the train rows in ascending order, or standardised values (n,). `grids` holds `quick` and `paper`; the paper's grid
    may be given per size of the training set, or per kind of task.
    """

    name: str
    title: str
    fit: Fitter
    quick: Callable[[Task], Grid]
    paper: Callable[[Task, Size], Grid | list[Grid]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    codes: bool = False

    def method(self) -> Method:
        """The baseline as a method of the benchmark."""
        shared = (
            "npt/interface.py",
            "npt/encoding.py",
            "npt/metrics.py",
            "npt/evaluation.py",
            "baselines/search.py",
            "baselines/boosting.py",
        )
        return Method(
            name=self.name,
            title=self.title,
            settings=BaselineSettings,
            build=lambda settings, resources: SearchLearner(self, settings, resources),
            sources=(*shared, f"baselines/{self.name}.py"),
        )

    def configurations(self, settings: BaselineSettings, task: Task, train_rows: int) -> Iterator[dict[str, Any]]:
        """Every configuration of the grid, or those drawn within the budget, in order: later parameters change fastest.

        Raises:
            UserError: the grid is unknown or has a parameter the baseline does not tune.
        """
        grids = self._grids(settings, task, size_of(train_rows))
        every = (dict(zip(grid, values, strict=True)) for grid in grids for values in itertools.product(*grid.values()))
        count = sum(math.prod(len(values) for values in grid.values()) for grid in grids)
        if settings.budget is None or settings.budget >= count:
            yield from every
        else:
            drawn = set(random.Random(f"{self.name} {count}").sample(range(count), settings.budget))
            yield from (configuration for place, configuration in enumerate(every) if place in drawn)

    def _grids(self, settings: BaselineSettings, task: Task, size: Size) -> list[Grid]:
        paper = self.paper(task, size)
        paper = paper if isinstance(paper, list) else [paper]
        if settings.grid == "paper":
            return paper
        if settings.grid == "quick":
            return [self.quick(task)]
        if isinstance(settings.grid, str):
            raise UserError(f"{self.name}.grid: {settings.grid!r} is not known; allowed: paper, quick, or a mapping of lists")
        if not settings.grid:
            raise UserError(f"{self.name}.grid: is empty; allowed: paper, quick, or lists for {', '.join(paper[0])}")
        for key in settings.grid:
            if key not in paper[0]:
                raise UserError(f"{self.name}.grid.{key}: not a tuned parameter; allowed: {', '.join(paper[0])}")
        return [settings.grid]


def size_of(train_rows: int) -> Size:
    """The size class by which the paper chose its grids."""
    return "small" if train_rows < MEDIUM_ROWS else "medium" if train_rows < LARGE_ROWS else "large"


class SearchLearner:
    """A baseline tuned on the validation rows; the winner keeps the fit that was scored, as refitting would repeat it."""

    def __init__(self, baseline: Baseline, settings: BaselineSettings, resources: Resources) -> None:
        self.baseline, self.settings, self.resources = baseline, settings, resources

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Fit every configuration with random state 42 + fold and keep the first of the best.

        Raises:
            Infeasible: the train rows have one target value, or a score is not a number.
        """
        self.data = _training_data(table, split, codes=self.baseline.codes)
        if len(np.unique(self.data.target[self.data.train])) < 2:
            raise Infeasible("the train rows have a single target value")
        known = statistics(table, split)
        self.centre, self.scale = known.centre[table.target], known.scale[table.target]
        best, chosen, fits = math.inf, None, 0
        for parameters in self.baseline.configurations(self.settings, self.data.task, len(split.train)):
            every = {**self.baseline.fixed, **self.settings.fixed, **parameters}
            fitted = self.baseline.fit(self.data, every, 42 + seed, self.resources)
            fits += 1
            loss = validation_loss(self.data, self._predict(fitted, self.data.validation))
            if math.isnan(loss):
                raise Infeasible(f"{self.baseline.title}: the validation loss of {parameters} is not a number")
            if loss < best:
                best, chosen, self.best = loss, parameters, fitted
        if chosen is None:
            raise Infeasible(f"{self.baseline.title}: no configuration has a finite validation loss")
        return Fit(chosen, best, fits)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Probabilities over all classes, or values in original units."""
        values = self._predict(self.best, rows)
        return Prediction(values * self.scale + self.centre if self.data.is_regression else values)

    def _predict(self, fitted: Fitted, rows: np.ndarray) -> np.ndarray:
        values = np.asarray(fitted(self.data.features[rows]), np.float64)
        if self.data.is_regression:
            return values.reshape(-1)
        every = np.zeros((len(rows), self.data.classes))
        every[:, seen_classes(self.data)] = values
        return every / every.sum(1, keepdims=True)


def validation_loss(data: TrainingData, predicted: np.ndarray) -> float:
    """Log loss in nats, or mean squared error of the standardised target, over the validation rows."""
    truth = data.target[data.validation]
    if data.is_regression:
        return float(np.mean((predicted - truth) ** 2))
    return math.nan if np.isnan(predicted).any() else negative_log_likelihood(truth, predicted)


def seen_classes(data: TrainingData) -> np.ndarray:
    """Codes of the classes that occur in the train rows, ascending."""
    return np.unique(data.target[data.train]).astype(int)


def train_labels(data: TrainingData) -> np.ndarray:
    """Targets of the train rows; classes are renumbered 0 .. K-1 over those seen, as some libraries require."""
    target = data.target[data.train]
    return target if data.is_regression else np.searchsorted(seen_classes(data), target)


def fit_estimator(estimator: Any, data: TrainingData) -> Fitted:
    """Fit a scikit-learn style estimator on the train rows and return its prediction function."""
    estimator.fit(data.features[data.train], train_labels(data))
    return estimator.predict if data.is_regression else estimator.predict_proba


def _training_data(table: Table, split: Split, *, codes: bool) -> TrainingData:
    known = statistics(table, split)
    target = (table.truth - known.centre[table.target]) / known.scale[table.target]
    labelled = ~np.isnan(target)
    train, validation = split.train[labelled[split.train]], split.validation[labelled[split.validation]]
    common = {"target": target, "train": train, "validation": validation, "task": table.task}
    classes = table.columns[table.target].size
    if not codes:
        return TrainingData(one_hot_features(table, known), classes=classes, **common)
    coded = coded_features(table, known)
    return TrainingData(coded.values, classes=classes, categorical=tuple(coded.categorical), sizes=tuple(coded.sizes), **common)
