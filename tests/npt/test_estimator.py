from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
)

from npt.data.datasets import synthetic
from npt.estimator import NPTClassifier, NPTRegressor
from npt.nn import queries

FAST = {"width": 8, "layers": 2, "heads": 2, "updates": 60, "learning_rate": 0.02}
ROUNDING = 1e-5


def test_a_classifier_learns_iris_and_fits_into_cross_validation() -> None:
    features, target = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[target]
    assert cross_val_score(NPTClassifier(FAST), features, names, cv=3).mean() > 0.85
    model = clone(NPTClassifier(FAST, seed=3)).fit(features, names)
    assert model.predict_proba(features[:7]).sum(1) == pytest.approx(np.ones(7))
    assert set(model.predict(features)) <= set(names)


def test_a_regressor_takes_missing_and_new_categories() -> None:
    frame = synthetic.frame("regression", 120)
    target = frame.pop("y")
    model = NPTRegressor({**FAST, "updates": 150}).fit(frame, target)
    assert model.score(frame, target) > 0.6
    new = frame.iloc[:5].copy()
    new["color"] = "violet"
    assert np.isfinite(model.predict(new)).all()
    assert np.array_equal(model.predict(frame[:9]), model.predict(frame[:9]))


def test_a_new_row_is_predicted_in_the_light_of_the_fitted_rows() -> None:
    frame = synthetic.frame("regression", 80)
    target = frame.pop("y")
    model = NPTRegressor(FAST).fit(frame, target)
    alone = model.predict(frame[:1])
    model.table_ = type(model.table_).of(
        model.table_.columns, model.table_.values[::-1] * 0.5, model.table_.target
    )
    assert not np.allclose(model.predict(frame[:1]), alone)


def new_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Twelve rows, with categories that `fit` has not seen and missing cells."""
    new = frame.iloc[:12] * 1
    new["x0"] += 3.0
    new.loc[new.index[:3], "color"] = "violet"
    new.loc[new.index[2:5], "x1"] = np.nan
    return new


def with_target(rows: int = 80) -> tuple[pd.DataFrame, pd.Series]:
    frame = synthetic.frame("multiclass", rows)
    target = frame.pop("y")
    return frame, target


def predicted_one_by_one(model: NPTClassifier, new: pd.DataFrame) -> np.ndarray:
    """Joint predictions of one new row at a time."""
    model = clone(model).set_params(predict_together=True).fit(*with_target())
    single = [model.predict_proba(new.iloc[[i]]) for i in range(len(new))]
    return np.concatenate(single)


BATCHES: list[dict[str, Any]] = [
    {},
    {"batch_rows": 20},
    {"batch_rows": 27, "class_balanced": True},
]


@pytest.mark.parametrize("changes", BATCHES, ids=["whole", "batches", "balanced"])
def test_rows_predicted_alone_equal_one_row_a_call(changes: dict[str, Any]) -> None:
    features, target = with_target()
    new = new_rows(features)
    model = NPTClassifier({**FAST, **changes}, predict_together=False).fit(features, target)
    alone = model.predict_proba(new)
    assert np.allclose(alone, predicted_one_by_one(model, new), rtol=0, atol=ROUNDING)
    together = model.set_params(predict_together=True).predict_proba(new)
    assert not np.allclose(alone, together, rtol=0, atol=10 * ROUNDING)


def test_a_single_new_row_is_the_same_to_the_last_bit() -> None:
    features, target = with_target()
    model = NPTClassifier(FAST).fit(features, target)
    joint = model.predict_proba(features[:1])
    model.predict_together = False
    assert np.array_equal(model.predict_proba(features[:1]), joint)


def test_rows_predicted_alone_do_not_depend_on_their_order() -> None:
    features, target = with_target()
    new = new_rows(features)
    model = NPTClassifier(FAST, predict_together=False).fit(features, target)
    backwards = model.predict_proba(new[::-1])[::-1]
    assert np.allclose(model.predict_proba(new), backwards, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("kind", [NPTClassifier, NPTRegressor])
def test_scikit_learn_finds_rows_predicted_alone(kind: type) -> None:
    model = kind({**FAST, "updates": 5}, predict_together=False)
    check_methods_subset_invariance(kind.__name__, model)
    check_methods_sample_order_invariance(kind.__name__, model)


@pytest.mark.parametrize("copies", [1, 5])
def test_a_pass_takes_a_bounded_number_of_new_rows(
    copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, target = with_target()
    new = new_rows(features)
    model = NPTClassifier(FAST, predict_together=False).fit(features, target)
    expected = model.predict_proba(new)
    sizes: list[tuple[int, ...]] = []
    network = model.model_.model
    network.embedding.register_forward_hook(
        lambda _, inputs, __: sizes.append(tuple(inputs[0].codes.shape[:2]))
    )
    monkeypatch.setattr(queries, "CPU_CELLS", copies * 81 * 6)
    assert np.allclose(model.predict_proba(new), expected, rtol=0, atol=ROUNDING)
    assert max(sizes) == (copies, 81)
    assert sum(number for number, _ in sizes) == len(new)


def test_rows_are_not_predicted_alone_in_the_lookup_task() -> None:
    settings = {**FAST, "updates": 2, "lookup": "original", "target_mask": 1}
    features, target = with_target()
    model = NPTClassifier(settings, predict_together=False).fit(features, target)
    with pytest.raises(ValueError, match="lookup"):
        model.predict(features)


def test_rows_predicted_alone_are_checked_as_others_are() -> None:
    features, target = with_target()
    model = NPTClassifier({**FAST, "updates": 2}, predict_together=False).fit(features, target)
    with pytest.raises(ValueError, match="at least one row"):
        model.predict(features[:0])
    model.predict_together = "no"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="predict_together"):
        model.predict(features)


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        (np.ones((5, 2)), np.ones(5), "y has 1 classes"),
        (np.ones((5, 2)), np.arange(4), "5 rows, y has 4"),
        (np.array([[1.0], [np.inf]]), np.array([0, 1]), "infinite"),
        (np.ones((3, 2)), np.array([0, 1, np.nan]), "one known value a row"),
        (
            pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
            np.array([0, 1]),
            "holds dates",
        ),
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
            np.array([0, 1]),
            "two columns named 'a'",
        ),
        (csr_array(np.eye(2)), np.array([0, 1]), "sparse"),
        (np.ones((0, 2)), np.array([0, 1]), "at least one row"),
    ],
)
def test_unusable_input_is_refused(features: np.ndarray, target: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NPTClassifier(FAST).fit(features, target)


def test_other_columns_than_fitted_are_refused() -> None:
    model = NPTRegressor({**FAST, "updates": 2}).fit(
        pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)}), np.arange(20.0)
    )
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="fit had"):
        model.predict(np.ones((2, 2)))


def test_columns_are_found_by_name() -> None:
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)[::-1] ** 2})
    model = NPTRegressor({**FAST, "updates": 20}).fit(frame, np.arange(20.0))
    assert np.array_equal(model.predict(frame[["b", "a"]]), model.predict(frame))


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"widht": 8}, "widht"),
        ({"width": 10}, "width"),
        ({"schedule": "foo"}, "settings.schedule"),
        ({"updates": "20"}, "settings.updates"),
        ({"compile": "no"}, "settings.compile"),
        ({"learning_rate": True}, "settings.learning_rate"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        NPTRegressor(settings).fit(np.ones((5, 2)), np.arange(5))


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"device": "gpu"}, "device"),
        ({"device": None}, "device"),
        ({"threads": 0}, "threads"),
        ({"threads": "2"}, "threads"),
        ({"seed": None}, "seed"),
        ({"seed": -1}, "seed"),
        ({"validation_share": 2}, "validation_share"),
        ({"predict_together": 0}, "predict_together"),
        ({"settings": [1]}, "settings"),
        ({"settings": {**FAST, "lookup": "add_one"}}, "settings"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        NPTRegressor(**{"settings": FAST, **arguments}).fit(np.ones((20, 2)), np.arange(20))


@pytest.mark.parametrize("value", [np.inf, 1e200, "a"])
def test_a_target_that_is_no_usable_number_is_refused(value: object) -> None:
    target = np.array([*range(19), value], dtype=object)
    with pytest.raises(ValueError, match="y has"):
        NPTRegressor(FAST).fit(np.ones((20, 2)), target)


def test_classes_of_several_types_are_refused() -> None:
    classes = np.array(["a", 1, "a", 1], dtype=object)
    with pytest.raises(ValueError, match="y has"):
        NPTClassifier(FAST).fit(np.ones((4, 2)), classes)


@pytest.mark.parametrize("value", [1e300, 1e30])
def test_extreme_new_rows_are_refused(value: float) -> None:
    features = np.arange(40.0).reshape(20, 2)
    model = NPTRegressor({**FAST, "updates": 2}).fit(features, np.arange(20))
    with pytest.raises(ValueError, match="X"):
        model.predict(np.array([[value, 1.0]]))


def test_numbers_in_an_object_array_are_numbers() -> None:
    values = np.arange(20.0)[:, None]
    model = NPTRegressor({**FAST, "updates": 2}).fit(values.astype(object), np.arange(20.0))
    assert model.table_.columns[0].kind == "continuous"
    assert np.array_equal(model.predict(values), model.predict(values.astype(object)))
    with pytest.raises(NotFittedError):
        NPTClassifier().predict(values)
