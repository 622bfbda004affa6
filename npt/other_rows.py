"""Do a model's predictions depend on other rows, and does it benefit from them?

The questions of the benchmark for any fitted model with scikit-learn's interface: `dependence` is
the NPT paper's corruption of other rows (section 4.3, Algorithm 1), `benefit` a comparison with
the same model trained without a source of information, such as other rows.

n rows, d features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from scipy.stats import wilcoxon
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import check_cv
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import _safe_indexing, check_scalar, column_or_1d

from npt.data.frames import class_codes
from npt.errors import unknown
from npt.metrics import negative_log_likelihoods
from npt.perturbation import ColumnChoice

GivesRows = Callable[[Any, Any, np.ndarray], Any]
Rows = tuple[Any, np.ndarray]  # features and targets


@dataclass(frozen=True)
class Comparison:
    """Losses of the same test rows before and after a change.

    Attributes:
        losses: A line per test row: its `row`, its `fold`, and the losses `before` and `after`, a
            squared error or the negative log-likelihood of a class in nats.
        of_classes: Whether they are of classes.
    """

    losses: pd.DataFrame
    of_classes: bool

    @property
    def effect(self) -> float:
        """Factor of the RMSE, or difference of the mean NLL; above 1, or 0, is worse."""
        before = float(self.losses["before"].mean())
        after = float(self.losses["after"].mean())
        if self.of_classes:
            return after - before
        return float(np.sqrt(np.divide(after, before))) if after != before else 1.0

    @property
    def p_value(self) -> float:
        """Of Wilcoxon's signed-rank test over rows, given the fitted models; 1 without a change."""
        change = self.losses["after"] - self.losses["before"]
        if not change.any():
            return 1.0
        test: Any = wilcoxon(change)
        return float(test.pvalue)

    def __str__(self) -> str:
        change = f"NLL {self.effect:+.3g}" if self.of_classes else f"RMSE × {self.effect:.3g}"
        return f"{change} (n = {len(self.losses)} rows, p = {self.p_value:.2g})"


def dependence(
    model: Any,
    X: Any,
    y: Any,
    *,
    columns: ColumnChoice = "all",
    cv: Any = 5,
    draws: int = 5,
    with_rows: GivesRows | None = None,
    random_state: int = 0,
) -> Comparison:
    """Whether a model predicts worse when the rows that it keeps are permuted.

    In each fold a clone is fitted. It predicts the test rows, then again after its train rows are
    replaced: each of their columns is permuted by itself. Nothing is retrained.

    Args:
        model: A regressor, or a classifier with `predict_proba`.
        X: Features (n, d), an array or a frame.
        y: Targets (n,).
        columns: What is permuted: `all`, `features` or `target`.
        cv: Folds, as in scikit-learn's `cross_val_score`.
        draws: Permutations, whose losses are averaged.
        with_rows: `with_rows(fitted, X, y)` is a fitted model with other rows and everything it
            has learned. By default the model's method of this name; scikit-learn's neighbours and
            Gaussian process regression are known. A model whose `fit` learns nothing (TabPFN,
            TabICL) takes `lambda fitted, X, y: clone(fitted).fit(X, y)`.
        random_state: Seed of the permutations.

    Returns:
        Losses before and after the permutation.

    Raises:
        ValueError: It is unknown how to give the model other rows, or an argument is wrong.
        TypeError: An argument is of another type.
    """
    if columns not in get_args(ColumnChoice):
        raise ValueError(f"columns: {unknown(columns, get_args(ColumnChoice))}")
    check_scalar(draws, "draws", int, min_val=1)
    replace = with_rows or _known_replacement(model)
    generator = np.random.default_rng(random_state)

    def losses_among_permuted(fitted: Any, train: Rows, test: Rows) -> np.ndarray:
        permuted = []
        for _ in range(draws):
            rows = _permuted(*train, columns, generator)
            permuted.append(_losses(replace(fitted, *rows), *test))
        return np.mean(permuted, axis=0)

    return _compared(model, X, y, cv, losses_among_permuted)


def benefit(model: Any, twin: Any, X: Any, y: Any, *, cv: Any = 5) -> Comparison:
    """Whether a model predicts better than its twin, which is trained without something.

    Args:
        model: A regressor, or a classifier with `predict_proba`.
        twin: The same without attention between rows, say.
        X: Features (n, d), an array or a frame.
        y: Targets (n,).
        cv: Folds, as in scikit-learn's `cross_val_score`.

    Returns:
        Losses of the model (`before`) and of its twin (`after`) on the same test rows.
    """
    if is_classifier(model) != is_classifier(twin):
        kind = "a classifier" if is_classifier(twin) else "no classifier"
        raise ValueError(f"twin: is {kind}, unlike the model")
    _require_probabilities(twin)
    return _compared(model, X, y, cv, lambda _, train, test: _losses(_fitted(twin, *train), *test))


def _require_probabilities(model: Any) -> None:
    if is_classifier(model) and not hasattr(model, "predict_proba"):
        raise ValueError(f"{type(model).__name__}: has no predict_proba")


def _compared(
    model: Any, X: Any, y: Any, cv: Any, losses_after: Callable[[Any, Rows, Rows], np.ndarray]
) -> Comparison:
    """Losses of a clone of the model that is fitted in each fold, and those after a change.

    Args:
        losses_after: The latter (n,), of the fitted clone, its train rows and the test rows.
    """
    _require_probabilities(model)
    features = X.toarray() if issparse(X) else X
    y = column_or_1d(y)
    if pd.isna(y).any():
        raise ValueError(f"y: {pd.isna(y).sum()} values are missing; a loss needs all of them")
    splitter: Any = check_cv(cv, y, classifier=is_classifier(model))
    folds = []
    for number, (train, test) in enumerate(splitter.split(features, y)):
        train_rows, test_rows = (
            (_safe_indexing(features, rows), y[rows]) for rows in (train, test)
        )
        fitted = _fitted(model, *train_rows)
        losses = {
            "before": _losses(fitted, *test_rows),
            "after": losses_after(fitted, train_rows, test_rows),
        }
        folds.append(pd.DataFrame({"row": test, "fold": number, **losses}))
    return Comparison(pd.concat(folds, ignore_index=True), is_classifier(model))


def _fitted(model: Any, features: Any, target: np.ndarray) -> Any:
    """A copy of a model, fitted to rows."""
    copy: Any = clone(model)
    return copy.fit(features, target)


def _losses(fitted: Any, features: Any, target: np.ndarray) -> np.ndarray:
    """Losses (n,) of a fitted model on rows."""
    if not is_classifier(fitted):
        return np.square(fitted.predict(features) - target)
    codes = class_codes(target, fitted.classes_)
    unseen = np.zeros(len(target))  # last, for code -1: a class that no train row has
    probabilities = np.column_stack([fitted.predict_proba(features), unseen])
    return negative_log_likelihoods(codes, probabilities)


def _permuted(
    features: Any, target: np.ndarray, columns: ColumnChoice, generator: np.random.Generator
) -> tuple[Any, np.ndarray]:
    """The same columns, each permuted by itself."""
    if columns != "features":
        target = generator.permutation(target)
    if columns == "target":
        return features, target
    if not isinstance(features, pd.DataFrame):
        return generator.permuted(features, axis=0), target
    shuffled = features.copy()
    for place in range(features.shape[1]):
        shuffled.isetitem(place, features.iloc[generator.permutation(len(features)), place].array)
    return shuffled, target


def _known_replacement(model: Any) -> GivesRows:
    """How a model, once fitted, is given other rows."""
    if hasattr(model, "with_rows"):
        return lambda fitted, features, target: fitted.with_rows(features, target)
    if isinstance(model, KNeighborsClassifier | KNeighborsRegressor):
        return _fitted
    if isinstance(model, GaussianProcessRegressor):
        return _with_learned_kernel
    raise ValueError(
        f"dependence: found {type(model).__name__}, which has no method with_rows; pass "
        "with_rows=function(fitted, X, y)"
    )


def _with_learned_kernel(fitted: Any, features: Any, target: np.ndarray) -> Any:
    process: Any = clone(fitted)
    process.set_params(kernel=fitted.kernel_, optimizer=None)
    return process.fit(features, target)
