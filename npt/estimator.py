"""NPT with scikit-learn's interface: fit a table, then predict new rows, which attend to it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from npt.data.custom.inference import MAX_NUMBER, kind_of
from npt.interface import Resources, UserError
from npt.nn.learner import NPTLearner
from npt.nn.settings import NPTSettings
from npt.table import Column, Split, Table
from npt.validation import validated

TARGET = "target"


class NPTEstimator(BaseEstimator):
    """Base class of classifier and regressor.

    New rows join the fitted ones with their targets hidden. By default, all rows of a call are
    predicted together and attend to each other's features, so a prediction depends on which rows
    it is made with. With `predict_together=False` it depends, up to rounding, on its row alone.

    Columns of text, categories or booleans are categorical, others continuous; missing cells and
    categories that `fit` has not seen are missing to the network. The defaults suit a CPU and
    tables of a few thousand rows.

    Args:
        settings: Changes to `NPTSettings`, such as `{"width": 32}`; None takes the CPU size below.
        validation_share: Fraction of the rows given to `fit` that selects the best weights; they
            are not trained on.
        predict_together: Whether new rows are predicted in one table, or each in a table of its
            own, as if it were the only new row. The second takes a forward pass over the fitted
            rows for every new row. It can be changed after `fit`.
        seed: Seed of the validation rows, the weights and the training.
        threads: CPU threads.
        device: `auto` takes a GPU where there is one; or `cpu`, or a torch device such as `cuda:0`.
    """

    def __init__(
        self,
        settings: dict[str, Any] | None = None,
        *,
        validation_share: float = 0.2,
        predict_together: bool = True,
        seed: int = 0,
        threads: int = 1,
        device: str = "auto",
    ) -> None:
        self.settings = settings
        self.validation_share = validation_share
        self.predict_together = predict_together
        self.seed = seed
        self.threads = threads
        self.device = device

    def _fit(
        self,
        features: Any,
        target_column: Column,
        target: np.ndarray,
        stratify: np.ndarray | None,
    ) -> Self:
        frame = _frame(features)
        if len(frame) != len(target):
            raise ValueError(f"X has {len(frame)} rows, y has {len(target)}")
        columns = [_column(frame[name]) for name in frame.columns]
        table = _table(frame, target, (*columns, target_column))
        with _errors_of_values():
            seed = _whole_number(self.seed, "seed", lowest=0)
            _boolean(self.predict_together, "predict_together")
            learner = NPTLearner(_settings(self.settings), self._resources())
        if not 0 < self.validation_share < 1:
            raise ValueError(
                f"validation_share: {self.validation_share!r}; allowed: above 0, below 1"
            )
        train, validation = train_test_split(
            np.arange(len(frame)),
            test_size=self.validation_share,
            random_state=seed,
            stratify=stratify,
        )
        split = Split(0, np.sort(train), np.sort(validation), np.array([], dtype=int))
        with _errors_of_values():
            self.fit_ = learner.fit(table, split, seed)
        self.model_ = learner.trained
        self.table_ = table
        self.split_ = split
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        return self

    def _resources(self) -> Resources:
        threads = _whole_number(self.threads, "threads", lowest=1)
        device = _text(self.device, "device")
        return Resources(threads, device)

    def _predict(self, features: Any) -> np.ndarray:
        """Predictions for new rows, which join the fitted table with their targets hidden."""
        check_is_fitted(self, "model_")
        with _errors_of_values():
            together = _boolean(self.predict_together, "predict_together")
        frame = _frame(features)
        if frame.shape[1] != self.n_features_in_:
            expected = f"{type(self).__name__} was fitted with {self.n_features_in_}"
            raise ValueError(f"X has {frame.shape[1]} features, {expected}")
        if set(frame.columns) != set(self.feature_names_in_):
            raise ValueError(
                f"X has columns {list(frame.columns)}, fit had {list(self.feature_names_in_)}"
            )
        frame = frame[list(self.feature_names_in_)]
        new = _table(frame, np.full(len(frame), np.nan), self.table_.columns)
        table = self.table_.followed_by(new)
        rows = np.arange(self.table_.rows, table.rows)
        split = replace(self.split_, test=rows)
        model = self.model_.with_table(table, split)
        with _errors_of_values():
            prediction = model.predict(rows) if together else model.predict_alone(rows)
        predictions = prediction.values
        if not np.isfinite(predictions).all():
            raise ValueError("X has numbers too far from those of fit; no finite prediction")
        return predictions


class NPTClassifier(ClassifierMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts classes; arguments as in `NPTEstimator`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features X (n, features), an array or a frame, and classes y (n,).

        Raises:
            ValueError: an argument is unusable, or y has fewer than two classes.
        """
        target = _target(y)
        try:
            classes, codes = np.unique(target, return_inverse=True)
        except TypeError:
            raise ValueError("y has classes of several types; one type is needed") from None
        if len(classes) < 2:
            raise ValueError(f"y has {len(classes)} classes; a classifier needs two")
        column = Column(TARGET, "categorical", tuple(str(name) for name in classes))
        enough = np.bincount(codes).min() > 1
        self._fit(X, column, codes.astype(float), codes if enough else None)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, classes) in the order of `classes_`; see `predict_together`."""
        return self._predict(X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; see `predict_together`."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(1)]


class NPTRegressor(RegressorMixin, NPTEstimator):
    """A Non-Parametric Transformer that predicts numbers; arguments as in `NPTEstimator`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features X (n, features), an array or a frame, and numbers y (n,).

        Raises:
            ValueError: an argument is unusable, or y has values that are not finite numbers.
        """
        target = _target(y)
        try:
            numbers = target.astype(float)
        except (TypeError, ValueError):
            raise ValueError("y has values that are not numbers") from None
        _check_size(numbers, "y")
        return self._fit(X, Column(TARGET, "continuous"), numbers, None)

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row, in the units of y; see `predict_together`."""
        return self._predict(X)


CPU_SIZE: dict[str, Any] = {
    "width": 16,
    "layers": 4,
    "heads": 4,
    "attention_dropout": 0.0,
    "target_mask": 0.5,
    "updates": 500,
    "learning_rate": 0.005,
    "evaluate_every": 10,
}


def _table(
    frame: pd.DataFrame,
    target: np.ndarray,
    columns: tuple[Column, ...],
) -> Table:
    """Features and target as a table of `columns`, of which the last is the target."""
    cells = []
    for name, column in zip(frame.columns, columns[:-1], strict=True):
        cells.append(_codes(frame[name], column))
    return Table.of(columns, np.column_stack([*cells, target]), len(cells))


@contextmanager
def _errors_of_values() -> Generator[None]:
    """Errors of the user as those that users of scikit-learn expect."""
    try:
        yield
    except UserError as error:
        raise ValueError(str(error)) from None


def _whole_number(value: Any, name: str, lowest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < lowest:
        raise UserError(f"{name}: {value!r}; a whole number from {lowest} is needed")
    return int(value)


def _boolean(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"{name}: {value!r}; True or False is needed")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UserError(f"{name}: {value!r}; a text is needed")
    return value


def _settings(changes: Any) -> NPTSettings:
    if changes is None:
        changes = {}
    if not isinstance(changes, Mapping):
        raise UserError(f"settings: {changes!r}; a mapping or None is needed")
    return validated(NPTSettings, {**CPU_SIZE, **changes}, "settings")


def _frame(features: Any) -> pd.DataFrame:
    if issparse(features):
        raise ValueError("X is sparse; give an array or a frame")
    if isinstance(features, pd.DataFrame):
        frame = features
    else:
        frame = pd.DataFrame(np.asarray(features)).infer_objects()
    if frame.empty:
        raise ValueError(f"X has shape {frame.shape}; at least one row and one feature are needed")
    if frame.columns.has_duplicates:
        duplicates = frame.columns[frame.columns.duplicated()]
        raise ValueError(f"X has two columns named {duplicates[0]!r}")
    return frame


def _target(y: Any) -> np.ndarray:
    """The target as (n,), without missing values."""
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1 or pd.isna(target).any():
        raise ValueError(f"y has shape {target.shape}; one known value a row is needed")
    return target


def _check_size(numbers: np.ndarray, where: str) -> None:
    """Refuse infinite numbers, and those whose squares are."""
    sizes = np.abs(numbers)
    if np.isinf(sizes).any():
        raise ValueError(f"{where} has infinite values")
    if (sizes > MAX_NUMBER).any():
        raise ValueError(f"{where} has numbers beyond {MAX_NUMBER:g}")


def _column(series: pd.Series) -> Column:
    if pd.api.types.is_datetime64_any_dtype(series):
        raise ValueError(
            f"X: column {series.name!r} holds dates; turn them into numbers or text first"
        )
    name = str(series.name)
    if kind_of(series) == "continuous":
        return Column(name, "continuous")
    levels = {str(value) for value in series.dropna()}
    return Column(name, "categorical", tuple(sorted(levels)))


def _codes(series: pd.Series, column: Column) -> np.ndarray:
    if column.kind == "continuous":
        where = f"X: column {column.name!r}"
        try:
            numbers = pd.to_numeric(series).to_numpy(np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise ValueError(f"{where} has values that are not numbers") from None
        _check_size(numbers, where)
        return numbers
    known = {level: code for code, level in enumerate(column.levels)}
    codes = np.full(len(series), np.nan)
    for row, value in enumerate(series):
        if not pd.isna(value):
            codes[row] = known.get(str(value), np.nan)
    return codes
