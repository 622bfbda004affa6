"""The base class of baselines: grids, how to fit, and which configurations share a fit."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from baselines.grids import (
    SIZES,
    AnyParameters,
    BaselineSettings,
    Grid,
    Parameters,
    Size,
    size_of,
)
from baselines.training_data import TrainingData
from npt.errors import Infeasible, UserError, listed
from npt.interface import Resources
from npt.table import TASKS, Task
from npt.validation import Strict, validated

# Predicts (features (n, F), parameters): standardised values (n,), or probabilities (n, K) of the
# classes of the train rows in ascending order.
Predictor = Callable[[np.ndarray, Parameters], np.ndarray]


class Baseline(ABC):
    """A baseline; a subclass states its attributes and overrides the methods that differ.

    Configurations passed to the methods contain all parameters: the tuned and the fixed ones.

    Attributes:
        name: Name of its file, and of the method in a configuration.
        title: Name in tables and figures.
        libraries: Distributions whose versions rows record.
        test_settings: Settings with which it trains in well below a second.
        version: Raised by hand when its predictions change, so that its runs are made anew.
        quick: A grid for small machines; of the paper's methods, a part of its grid.
        paper: The paper's grid, or of other methods the whole one, where it is one for all tasks
            and sizes.
        defaults: Parameters that every configuration has unless it states others.
        schema: Allowed values of parameters; by default their types alone are checked.
        embeds_categories: Always receives categories as integer codes.
        keeps_missing: Always receives missing numbers as NaN.
        takes_categories: Can receive categories as integer codes.
        takes_missing: Can receive missing numbers as NaN.
        most_rows: Largest number of train rows.
        slow: Whether each fold is a separate job, unless the grid is quick.
        accelerated: Whether it can use a GPU.
        keeps_train_rows: Predicts from stored train rows; `fit` returns a `RowPredictor`.
        untrained: Parameters under which `fit` returns the initial model, before it learns; None
            for a model that learns nothing, or that keeps no train rows.
        recalls: Its predictor answers the lookup task by `recall`; others are fitted to the
            duplicates.
        twins: Blind twins, as of `Method`.
        extra: Extra of the installation that brings its libraries; empty if all users have them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]
    test_settings: ClassVar[Mapping[str, Any]]
    version: ClassVar[int] = 1
    quick: ClassVar[Grid] = {}
    paper: ClassVar[Grid] = {}
    defaults: ClassVar[Parameters] = {}
    schema: ClassVar[type[Strict]] = AnyParameters
    embeds_categories: ClassVar[bool] = False
    keeps_missing: ClassVar[bool] = False
    takes_categories: ClassVar[bool] = False
    takes_missing: ClassVar[bool] = False
    most_rows: ClassVar[float] = math.inf
    slow: ClassVar[bool] = False
    accelerated: ClassVar[bool] = False
    keeps_train_rows: ClassVar[bool] = False
    untrained: ClassVar[Parameters | None] = None
    recalls: ClassVar[bool] = False
    twins: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    extra: ClassVar[str] = ""

    def quick_grid(self, task: Task) -> Grid:
        """A grid for small machines."""
        return self.quick

    def paper_grids(self, task: Task, size: Size) -> list[Grid]:
        """The paper's grid for training sets of a size; all grids of a size tune the same."""
        return [self.paper]

    @abstractmethod
    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> Predictor:
        """Train one model, which serves all smaller values of the shared parameters.

        Raises:
            Infeasible: The configuration cannot be fitted to the data.
        """

    def shared_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Parameters whose values share the fit with the largest value of the first of them."""
        return ()

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """What of the parameters determines the model; equal ones are fitted once."""
        return parameters

    def known_parameters(self, task: Task) -> Collection[str]:
        """Names of all parameters for a task."""
        return self.defaults

    def of_task(self, parameters: Parameters, task: Task) -> dict[str, Any]:
        """Those of the parameters that the model for a task has."""
        known = self.known_parameters(task)
        return {name: value for name, value in parameters.items() if name in known}

    def check(self, parameters: Parameters, key: str) -> None:
        """Raise `UserError` for values that are not allowed, whatever the data.

        Args:
            key: Key of the settings that has the parameters, `grid` or `fixed`.
        """
        typed = self.schema.model_fields
        for name, value in parameters.items():
            if not _is_plain(value):
                raise UserError(
                    f"{self.name}.{key}.{name}: {value!r} is not a number, text or list of these"
                )
            default = self.defaults.get(name)
            if name not in typed and default is not None and not _has_type(value, [default]):
                raise UserError(
                    f"{self.name}.{key}.{name}: {value!r} is not of the type of {default!r}"
                )
        validated(self.schema, parameters, f"{self.name}.{key}")

    def supports(self, task: Task) -> str | None:
        """The reason for refusing a task, or None."""
        return None

    def configurations(
        self, settings: BaselineSettings, task: Task, train_rows: int
    ) -> list[dict[str, Any]]:
        """Every configuration of the grids that the settings name, in scikit-learn's order.

        Parameters that are of another task alone are left out.

        Raises:
            UserError: The grid has a parameter that the baseline does not tune.
            Infeasible: All parameters of the grid are of another task.
        """
        from sklearn.model_selection import ParameterGrid

        named = self.grids(settings, task, train_rows)
        grids = [self.of_task(grid, task) for grid in named]
        if any(named) and not any(grids):
            raise Infeasible(f"the grid has no parameter for {task}")
        return list(ParameterGrid(grids))

    def grids(self, settings: BaselineSettings, task: Task, train_rows: int) -> list[Grid]:
        """The grids that the settings name.

        Raises:
            UserError: The grid has a parameter that the baseline does not tune.
        """
        grids: list[Grid]
        if settings.grid == "paper":
            grids = self.paper_grids(task, size_of(train_rows))
        elif settings.grid == "quick":
            grids = [self.quick_grid(task)]
        else:
            self._require_tunable(settings.grid)
            grids = [settings.grid]
        both = sorted(set(grids[0]) & set(settings.fixed))
        if both:
            raise UserError(
                f"{self.name}.fixed.{both[0]}: is tuned by the grid; "
                "give the values to try in a grid"
            )
        return grids

    def _require_tunable(self, grid: Grid) -> None:
        """Check that a custom grid tunes what a declared grid tunes, unless there is nothing.

        Raises:
            UserError: Names the parameter that has no values, has one that is not like those of
                the paper, or is another.
        """
        tunable: dict[str, list[Any]] = {}
        for task, size in itertools.product(TASKS, SIZES):
            for declared in (*self.paper_grids(task, size), self.quick_grid(task)):
                for name, values in declared.items():
                    tunable.setdefault(name, []).extend(values)
        allowed = listed(tunable)
        typed = self.schema.model_fields
        if not grid and tunable:
            raise UserError(
                f"{self.name}.grid: is empty; allowed: paper, quick, or lists for {allowed}"
            )
        for name, values in grid.items():
            key = f"{self.name}.grid.{name}"
            if name not in tunable:
                raise UserError(f"{key}: not a tuned parameter; allowed: {allowed}")
            if not values:
                raise UserError(f"{key}: has no values")
            for value in values:
                if name not in typed and not _is_like(value, tunable[name]):
                    examples = dict.fromkeys(map(str, tunable[name]))
                    raise UserError(f"{key}: {value!r} is not a value such as {listed(examples)}")
                self.check({name: value}, "grid")


def _is_plain(value: Any) -> bool:
    """Whether a value is none, a number, text, or a list of these."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _is_like(value: Any, declared: Sequence[Any]) -> bool:
    """Whether a value is one of the declared texts, or has the type and sign of declared values."""
    if isinstance(value, str):
        return value in declared
    least = 0 if 0 in declared or any(isinstance(other, float) for other in declared) else 1
    is_number = type(value) in (int, float)
    return _has_type(value, declared) and not (is_number and value < least)


def _has_type(value: Any, declared: Sequence[Any]) -> bool:
    """Whether a value has the type of a declared one; whole numbers are real ones, too."""
    types = set(map(type, declared))
    return bool(types & ({int, float} if type(value) is int else {type(value)}))
