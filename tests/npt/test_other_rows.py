"""The questions about other rows, asked of models whose answer is known."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

from npt.estimator import NPTClassifier, NPTRegressor
from npt.other_rows import benefit, dependence

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(60, 2))
Y = X[:, 0] - X[:, 1]
LABELS = np.where(Y > 0, "above", "below")
FOLD = [(np.arange(50), np.arange(50, 60))]
FRAME = pd.DataFrame({"number": X[:, 0], "text": np.where(X[:, 1] > 0, "a", "b")})


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsRegressor(),
        GaussianProcessRegressor(alpha=0.1, normalize_y=True),
        NPTRegressor(max_updates=20),
    ],
    ids=["neighbours", "process", "solved"],
)
def test_models_that_keep_rows_depend_on_them(model: object) -> None:
    found = dependence(model, X, Y, cv=2, draws=2)
    means = found.losses[["before", "after"]].mean()
    assert found.effect == pytest.approx(np.sqrt(means["after"] / means["before"]))
    assert found.effect > 1.3
    assert found.p_value < 1e-3
    assert sorted(found.losses["row"]) == list(range(60))
    again = dependence(model, X, Y, cv=2, draws=2)
    pd.testing.assert_frame_equal(found.losses, again.losses)


@pytest.mark.parametrize("model", [KNeighborsClassifier(15), NPTClassifier(max_updates=20)])
@pytest.mark.parametrize("columns", ["all", "features", "target"])
def test_classes_depend_on_each_part_of_other_rows(model: object, columns: str) -> None:
    features = X if isinstance(model, KNeighborsClassifier) else FRAME
    found = dependence(model, features, LABELS, cv=2, draws=1, columns=columns)
    assert found.effect > 0
    assert found.effect == pytest.approx((found.losses["after"] - found.losses["before"]).mean())
    assert "NLL +" in str(found)


@pytest.mark.parametrize("features", [X, FRAME], ids=["array", "frame"])
@pytest.mark.parametrize("columns", ["all", "features", "target"])
def test_only_the_chosen_columns_are_permuted(features: Any, columns: Any) -> None:
    given = []

    def with_rows(fitted: object, *rows: Any) -> object:
        given.append(rows)
        return fitted

    dependence(
        DummyRegressor(), features, Y, columns=columns, cv=FOLD, draws=1, with_rows=with_rows
    )
    ((permuted, target),) = given
    before, after = np.asarray(features)[:50], np.asarray(permuted)
    for column in range(2):
        assert sorted(after[:, column]) == sorted(before[:, column])
    keeps_rows = set(map(tuple, after)) <= set(map(tuple, before))
    assert keeps_rows == (columns == "target")
    assert sorted(target) == sorted(Y[:50])
    assert np.array_equal(target, Y[:50]) == (columns == "features")


def test_a_loss_is_a_mean_over_draws() -> None:
    models = []

    def with_rows(fitted: Any, *rows: Any) -> Any:
        models.append(clone(fitted).fit(*rows))
        return models[-1]

    found = dependence(KNeighborsRegressor(), X, Y, cv=FOLD, draws=3, with_rows=with_rows)
    losses = [(model.predict(X[50:]) - Y[50:]) ** 2 for model in models]
    assert found.losses["after"].to_numpy() == pytest.approx(np.mean(losses, axis=0))


def test_a_process_keeps_the_kernel_that_it_has_learned() -> None:
    process = GaussianProcessRegressor(RBF(10.0), alpha=0.1)

    def with_rows(fitted: Any, *rows: Any) -> Any:
        return GaussianProcessRegressor(fitted.kernel_, alpha=0.1, optimizer=None).fit(*rows)

    found = dependence(process, X, Y, cv=FOLD)
    expected = dependence(process, X, Y, cv=FOLD, with_rows=with_rows)
    pd.testing.assert_frame_equal(found.losses, expected.losses)


def test_a_class_without_train_rows_has_no_probability() -> None:
    labels = np.append(LABELS[:59], "unseen")
    found = dependence(KNeighborsClassifier(), X, labels, cv=FOLD)
    assert found.losses["before"].idxmax() == 9
    assert found.losses["before"].iloc[9] > 30


def test_sparse_rows_are_those_of_an_array() -> None:
    losses = [dependence(KNeighborsRegressor(), rows, Y).losses for rows in (X, csr_matrix(X))]
    pd.testing.assert_frame_equal(*losses)


def test_a_model_that_reads_no_row_does_not_depend_on_them() -> None:
    found = dependence(LinearRegression(), X, Y, with_rows=lambda fitted, *rows: fitted)
    assert found.effect == found.p_value == 1


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ValueError, match=r"LinearRegression.*with_rows"):
        dependence(LinearRegression(), X, Y)
    with pytest.raises(ValueError, match="SVC: has no predict_proba"):
        benefit(SVC(), SVC(), X, LABELS)
    with pytest.raises(ValueError, match="SVC: has no predict_proba"):
        benefit(KNeighborsClassifier(), SVC(), X, LABELS)
    with pytest.raises(ValueError, match="twin: is no classifier"):
        benefit(KNeighborsClassifier(), KNeighborsRegressor(), X, LABELS)
    with pytest.raises(ValueError, match="y: 1 values are missing"):
        dependence(KNeighborsRegressor(), X, np.append(Y[1:], np.nan))
    with pytest.raises(ValueError, match=r"columns: .*row.*all"):
        dependence(KNeighborsRegressor(), X, Y, columns="row")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"with_rows.*compact, solved"):
        NPTRegressor(architecture="paper", max_updates=1).fit(X, Y).with_rows(X, Y)


def test_benefit_is_against_the_twin() -> None:
    found = benefit(KNeighborsRegressor(), DummyRegressor(), X, Y)
    assert found.effect > 1.5
    assert found.p_value < 1e-3
    assert benefit(DummyRegressor(), DummyRegressor(), X, Y).p_value == 1


@pytest.mark.parametrize("architecture", ["solved", "compact"])
def test_other_rows_are_saved(architecture: str, tmp_path: Path) -> None:
    model = NPTRegressor(architecture=architecture, max_updates=10).fit(FRAME, Y)
    other = model.with_rows(FRAME[:9], Y[:9]).with_rows(FRAME[:20], Y[:20])
    other.save(tmp_path / "model")
    for copy in (NPTRegressor.load(tmp_path / "model"), deepcopy(other)):
        assert np.array_equal(copy.predict(FRAME), other.predict(FRAME))
        again = copy.with_rows(FRAME[:9], Y[:9]).predict(FRAME)
        assert np.array_equal(again, model.with_rows(FRAME[:9], Y[:9]).predict(FRAME))


@pytest.mark.parametrize("architecture", ["solved", "compact"])
def test_the_same_rows_give_the_same_predictions(architecture: str) -> None:
    model = NPTRegressor(architecture=architecture, max_updates=10).fit(X, Y)
    same = model.with_rows(X, Y)
    np.testing.assert_allclose(same.predict(X[:5]), model.predict(X[:5]), rtol=1e-6)
    changed = model.with_rows(X, -Y)
    assert np.abs(changed.predict(X[:5]) - model.predict(X[:5])).max() > 1e-3
