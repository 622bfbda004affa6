"""What the classifier and the regressor have in common.

n rows of X, d features.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_scalar
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from npt.data.splits import grouped_parts, labels_of, random_parts
from npt.errors import UserError
from npt.estimator.arguments import computing, seed_of, value_errors
from npt.estimator.compact_model import CompactModel
from npt.estimator.explanation import Explanation
from npt.estimator.frames import as_table, learn_features, read_frame, read_groups, warn_beyond
from npt.estimator.hyperparameters import (
    HYPERPARAMETERS,
    NAMED,
    SETTINGS,
    architecture_of,
    settings_of,
)
from npt.estimator.model import NO_ROWS, Job, Model
from npt.estimator.paper_model import PaperModel
from npt.estimator.saving import (
    EstimatorFacts,
    Task,
    class_facts,
    not_saved,
    plain_parameters,
    read,
    write,
)
from npt.estimator.solved_model import SolvedModel
from npt.nn.device import device_of
from npt.table import Column, Split, Table

TARGET = "target"
ROWS = "fitted_rows"
FEWEST_TRAIN_ROWS = 2  # a row is trained beside another one
FEWEST_ROWS = FEWEST_TRAIN_ROWS + 1
MODELS: Mapping[str, type[Model]] = {
    model.architecture: model for model in (CompactModel, PaperModel, SolvedModel)
}


@dataclass(kw_only=True, eq=False, repr=False)
class NPTEstimator(BaseEstimator):
    """A Non-Parametric Transformer that learns from the rows given to `fit` alone.

    Columns of text, booleans and pandas' categories are categorical, and so are those that
    `categorical` names. Categories are compared by value. Dates are numbers of seconds. All others
    are numbers. Missing cells, and categories that `fit` has not seen, are missing to the network.

    Where a hyper-parameter is None, the architecture has a default of its own, which may depend on
    the task and on the number of rows.

    Parameters
    ----------
    architecture : {"auto", "solved", "compact", "paper"}, default="auto"
        `solved`: attention to fitted rows is solved for instead of learned, in seconds for some
        thousands of rows; leave-one-out errors of all rows tune it. `compact`: compact
        NPT. In both, a predicted row attends to fitted rows alone, so that it does not depend on
        the rows that it is predicted with. `paper`: the exact NPT, slower, by default with 4 layers
        of width 16 and 500 updates; see `predict_together`. `auto`: solved for at most 4,000 rows,
        of classes 1,500, and compact for more, or where one of the hyper-parameters below is given
        that solved NPT lacks.
    width : int, optional
        Width of a row between datapoints; of a column's embedding in the exact NPT.
    layers : int, optional
        Blocks between datapoints; all blocks of the exact NPT.
    learning_rate : float, optional
        Peak learning rate (of the tuning, in the solved NPT).
    max_updates : int, optional
        Most training steps (of the tuning, in the solved NPT).
    patience : int, optional
        Training stops after so many updates without a lower validation loss (compact).
    members : int, optional
        Networks whose predictions are averaged (compact).
    batch_size : int, optional
        Fewest (compact) or most (exact NPT) rows of a training batch. None takes all rows in the
        exact NPT.
    context_size : int, optional
        Most fitted rows, those of the validation included, that a predicted row attends to, drawn
        at random (compact).
    validation_fraction : float, default=0.2
        Fraction of the rows given to `fit` that selects the best weights (compact, paper).
    refit : bool, default=False
        Whether the network is then trained again on all rows, for the number of updates that was
        best (compact). Not if validation rows are given to `fit`. Predicted rows of the compact NPT
        attend to the validation rows in any case. It has no effect on the solved NPT, which always
        uses all rows.
    categorical : array-like of str, int or bool, optional
        Names or indices of columns that are categories, besides those of text, or a mask. Whole
        numbers are indices, also where columns have numbers as names.
    settings : dict, optional
        Further fields of `SolvedSettings`, `CompactSettings` or `NPTSettings`, such as
        `{"heads": 2}` with `architecture="compact"`. `auto` does not choose by them.
    predict_together : bool, optional
        Whether the new rows of a call attend to each other's features (`paper`; there None means
        True). If not, each is predicted as if it were the only new row, by a forward pass over all
        fitted rows. It can be changed after `fit`.
    random_state : int, numpy.random.RandomState or None, default=0
        Seed of validation rows, weights and training; None draws one.
    n_jobs : int, optional
        CPU threads during `fit` and predictions; None is one, -1 all processors. In a forked
        process it is always one.
    device : str, default="auto"
        `auto` takes a GPU where there is one; or `cpu`, or a torch device such as `cuda:0`.
    verbose : {0, 1, "auto"}, default="auto"
        1 shows a progress bar, 0 none, `auto` one where standard error is a terminal.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if X was a frame with names of text.
    classes_ : ndarray of shape (classes,)
        The classes, in ascending order (classifier).
    validation_loss_ : float
        Loss on the validation rows, or of the solved NPT on all rows, each without its own label
        or, with `groups`, those of its group: negative log-likelihood, or squared error in units of
        the target's variance. It selects or tunes, so that it is too low for new rows, most for few
        fitted ones.
    best_updates_ : list of int
        Number of updates of each member.
    model_ : Model
        The fitted model.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Append the parameters to a subclass's docstring."""
        super().__init_subclass__(**keywords)
        _, _, shared = (NPTEstimator.__doc__ or "").partition("\n\n")
        cls.__doc__ = f"{cls.__doc__}\n\n{shared}"

    architecture: str = "auto"
    width: int | None = None
    layers: int | None = None
    learning_rate: float | None = None
    max_updates: int | None = None
    patience: int | None = None
    members: int | None = None
    batch_size: int | None = None
    context_size: int | None = None
    validation_fraction: float = 0.2
    refit: bool = False
    categorical: Any = None
    settings: dict[str, Any] | None = None
    predict_together: bool | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    device: str = "auto"
    verbose: int | str = "auto"

    _task: ClassVar[Task]
    model_: Model = field(init=False)
    classes_: np.ndarray = field(init=False)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HYPERPARAMETERS,
        "architecture": [StrOptions({"auto", *SETTINGS})],
        "validation_fraction": [Interval(RealNotInt, 0, 1, closed="neither")],
        "refit": ["boolean"],
        "categorical": [None, "array-like", set],
        "settings": [None, Mapping],
        "predict_together": [None, "boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "device": [str],
        "verbose": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def fit(
        self,
        X: Any,
        y: Any,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Train.

        Args:
            X: Features (n, d), an array or a frame.
            y: Targets (n,).
            X_val: Rows that select the best weights, instead of a fraction of X. Compact NPT is not
                trained on them, but predicted rows attend to them, too. The exact NPT is trained on
                their features, not on their targets. To the solved NPT, which selects nothing, they
                are rows like those of X.
            y_val: Their targets.
            sample_weight: Weights (n,) of the rows (compact, solved). Rows of weight 0 are left
                out. In the solved NPT, a row of weight 2 equals two rows, and weights that sum to
                1 equal one.
            groups: A value (n,) for each row, equal for rows that belong together, such as those of
                a patient, where new rows are of others. The solved NPT tunes, mixes and draws its
                intervals by predictions without all rows of a group. For the other architectures,
                no group has rows in training and validation.

        Raises:
            ValueError: An argument is unusable; the message names it or its setting.
        """
        vars(self).pop("model_", None)  # a fit that fails leaves no model of an earlier one
        self._validate_params()
        frame = read_frame(self, X, reset=True, fewest=FEWEST_TRAIN_ROWS)
        labels = self._read_target(y)
        check_consistent_length(frame, labels)
        rows = np.arange(len(frame))
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight,
                frame,
                dtype=np.float64,
                ensure_non_negative=True,
                allow_all_zero_weights=False,
            )
            rows = np.flatnonzero(weights)
            weights = weights[rows]
        self.target_ = self._learn_target(labels[rows])
        cells = self._encode_target(labels[rows], "y")
        self.features_ = learn_features(frame.iloc[rows], self.categorical)
        table = as_table(frame.iloc[rows], self.features_, cells, self.target_)
        if groups is not None:
            if X_val is not None:
                raise ValueError("groups: not with X_val, whose rows have none")
            table = replace(table, groups=read_groups(groups, len(frame), rows))
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val: both are needed, or none")
        fitted = len(rows)
        if X_val is not None:
            held_out = self._labelled(X_val, y_val, "y_val")
            table = table.followed_by(held_out)
            rows = np.append(rows, len(frame) + np.arange(held_out.rows))
        named = {name: getattr(self, name) for name in NAMED}
        architecture = architecture_of(
            self.architecture, named, table.rows, of_classes=self._task == "classifier"
        )
        if fitted < FEWEST_TRAIN_ROWS and architecture != "solved":
            raise ValueError(
                f"sample_weight: {fitted} row of positive weight, "
                f"at least {FEWEST_TRAIN_ROWS} required"
            )
        if weights is not None:
            if architecture != "solved":
                weights = weights / weights.max()
            weights = np.append(weights, np.ones(table.rows - fitted))
        seed = seed_of(self.random_state)
        validation = np.arange(fitted, table.rows)
        if X_val is None and architecture != "solved":
            validation = self._validation_rows(table, seed)
        train = np.setdiff1d(np.arange(table.rows), validation)
        self._together()  # refuses rows that attend to each other
        with computing(self.n_jobs):
            job = Job(
                table=table,
                split=Split(0, train, validation, NO_ROWS),
                weights=weights,
                seed=seed,
                device=device_of(self.device),
                refit=bool(self.refit) and X_val is None,
                visible=None if self.verbose == "auto" else bool(self.verbose),
            )
            settings = settings_of(architecture, named, self.settings, table.task, table.rows)
            self.model_ = MODELS[architecture].fit(job, settings)
        self.rows_ = rows
        return self

    def explain(self, X: Any, rows: int = 5) -> Explanation:
        """Fitted rows that the predictions of X (n, d) attend to, and predictions without them.

        Args:
            rows: Most fitted rows to show for each row of X; those with the largest absolute
                attention.

        Raises:
            ValueError: The architecture is the paper's, or nothing is left without a row.
        """
        check_scalar(rows, "rows", Integral, min_val=1)
        table = self._new_rows(X)
        with computing(self.n_jobs):
            attention = self.model_.attention(table)
            count = min(rows, attention.shape[1] - 1)
            if not count:
                raise UserError("explain: the context has one row, and nothing is left without it")
            places = np.argsort(-np.abs(attention), axis=1, kind="stable")[:, :count]
            alone = [places[:, [rank]] for rank in range(count)]
            values = self.model_.predict(table, together=False)
            without = self.model_.without(table, [*alone, places])
        targets = self.model_.targets
        predictions = scores = values
        if self._task == "classifier":  # explained by the probability of the predicted class
            codes = values.argmax(1)
            predictions = self.classes_[codes]
            targets = self.classes_[targets.astype(np.int64)]
            explained = np.arange(len(codes))
            scores = values[explained, codes]
            without = [probabilities[explained, codes] for probabilities in without]
        require_finite(scores, without[-1])
        context = self.rows_[self.model_.rows]
        frame = pd.DataFrame(
            {
                "row": np.repeat(np.arange(len(places)), count),
                "fitted_row": context[places].ravel(),
                "weight": np.take_along_axis(attention, places, 1).ravel(),
                "target": targets[places].ravel(),
                "prediction": np.repeat(predictions, count),
                "score": np.repeat(scores, count),
                "without_row": np.stack(without[:-1], axis=1).ravel(),
                "without_all_rows": np.repeat(without[-1], count),
            }
        )
        return Explanation(attention, context, frame)

    def with_rows(self, X: Any, y: Any) -> Self:
        """The same model, with everything that it has learned, that attends to other rows.

        These have no groups: intervals are those of more rows of the same groups.

        Args:
            X: Features (n, d) of these rows, with the columns of `fit`.
            y: Their targets (n,); classes are among those of `fit`.

        Raises:
            ValueError: The architecture is the paper's, or the rows are unusable.
        """
        check_is_fitted(self, "model_")
        table = self._labelled(X, y, "y")
        other = copy(self)
        with computing(self.n_jobs):
            other.model_ = self.model_.with_rows(table)
        other.rows_ = np.arange(table.rows)
        return other

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a file of safetensors, whose header has a JSON.

        Raises:
            ValueError: A parameter has no form in JSON.
        """
        check_is_fitted(self, "model_")
        model, arrays = self.model_.state()
        names = getattr(self, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        with value_errors():
            facts = EstimatorFacts(
                task=self._task,
                parameters=plain_parameters(self.get_params(deep=False), model.seed),
                model=model,
                features=self.features_,
                feature_names=None if names is None else names.tolist(),
                classes=None if classes is None else class_facts(classes),
            )
            write(Path(path).expanduser(), facts, {**arrays, ROWS: self.rows_})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; nothing is unpickled.

        A model that was on a GPU is loaded to it, or to the CPU where there is none. On the same
        kind of device, its predictions are bit-identical.

        Raises:
            OSError: The file cannot be opened.
            ValueError: It is damaged, or something else.
        """
        path = Path(path).expanduser()
        with value_errors():
            facts, arrays = read(path)
            if facts.task != cls._task:
                raise not_saved(path, f"it holds a {facts.task}; this is a {cls._task}")
            try:
                estimator = cls(**facts.parameters)
                estimator._restore(facts, arrays)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                reason = str(error).partition("\n")[0]
                raise not_saved(path, f"of another version? {reason}") from None
        return estimator

    def _restore(self, facts: EstimatorFacts, arrays: dict[str, np.ndarray]) -> None:
        """Set the fitted attributes."""
        self.rows_ = arrays.pop(ROWS)
        self.features_ = facts.features
        self.target_ = facts.model.columns[-1]
        self.n_features_in_ = len(self.features_)
        if facts.feature_names is not None:
            self.feature_names_in_ = np.array(facts.feature_names, dtype=object)
        if facts.classes is not None:
            self.classes_ = np.array(facts.classes.values, dtype=facts.classes.dtype)
        with computing(self.n_jobs):
            self.model_ = MODELS[facts.model.architecture].from_state(facts.model, arrays)

    @property
    def validation_loss_(self) -> float:
        """Loss on the validation rows; of solved NPT, the leave-one-out loss."""
        return self.model_.validation_loss

    @property
    def best_updates_(self) -> list[int]:
        """Number of updates of each member."""
        return self.model_.best_updates

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _read_target(self, y: Any) -> np.ndarray:
        """Checked targets (n,)."""

    @abstractmethod
    def _learn_target(self, y: np.ndarray) -> Column:
        """The column of the targets (n,)."""

    @abstractmethod
    def _encode_target(self, y: np.ndarray, where: str) -> np.ndarray:
        """Cells (n,) of that column."""

    def _labelled(self, X: Any, y: Any, where: str) -> Table:
        """Rows with targets, read with the columns of the fit; `where` names y in errors."""
        frame = read_frame(self, X, reset=False)
        labels = self._read_target(y)
        check_consistent_length(frame, labels)
        return as_table(frame, self.features_, self._encode_target(labels, where), self.target_)

    def _validation_rows(self, table: Table, seed: int) -> np.ndarray:
        """Random validation rows of a table."""
        if table.rows < FEWEST_ROWS:
            raise ValueError(
                f"Found {table.rows} sample(s) to fit while a minimum of {FEWEST_ROWS} is required "
                f"by {type(self).__name__} without X_val"
            )
        rows = np.arange(table.rows)
        if table.groups is not None:
            train, validation = grouped_parts(rows, table, self.validation_fraction, seed)
            if len(train) < FEWEST_TRAIN_ROWS:
                raise ValueError("groups: one train row is left, at least 2 required")
            return validation
        count = round(table.rows * self.validation_fraction)
        count = max(1, min(count, table.rows - FEWEST_TRAIN_ROWS))
        return random_parts(rows, labels_of(table), count, seed)[1]

    def _predict(self, X: Any) -> np.ndarray:
        """Values (n,) or probabilities (n, classes) of new rows."""
        table = self._new_rows(X)
        together = self._together()
        with computing(self.n_jobs):
            predictions = self.model_.predict(table, together=together)
        require_finite(predictions)
        return predictions

    def _new_rows(self, X: Any) -> Table:
        """Rows to predict as a table with hidden targets."""
        check_is_fitted(self, "model_")
        self._validate_params()
        frame = read_frame(self, X, reset=False)
        hidden = np.full(len(frame), np.nan)
        table = as_table(frame, self.features_, hidden, self.target_)
        warn_beyond(table, self.model_.table)
        return table

    def _together(self) -> bool:
        """Whether new rows attend to each other."""
        fitted = vars(self).get("model_")
        is_exact = (fitted.architecture if fitted else self.architecture) == "paper"
        if self.predict_together and not is_exact:
            raise ValueError(
                "predict_together: True; only rows of the exact NPT attend to each other"
            )
        return is_exact if self.predict_together is None else bool(self.predict_together)


def require_finite(*predictions: np.ndarray) -> None:
    """Refuse predictions that overflowed."""
    if not all(np.isfinite(array).all() for array in predictions):
        raise ValueError("X has numbers too far from those of fit; no finite prediction")
