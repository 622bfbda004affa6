"""The solved NPT as an architecture: exact explanations, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from npt.estimator import NPTClassifier, NPTRegressor
from tests.npt.estimator.small import SOLVED, table


def test_an_explanation_is_the_prediction() -> None:
    frame, target = table("regression")
    model = NPTRegressor(**SOLVED).fit(frame, target)
    explanation = model.explain(frame[:7], rows=3)
    labels = np.asarray(target)[explanation.context]
    assert explanation.attention @ labels == pytest.approx(model.predict(frame[:7]))
    assert explanation.rows.shape == (7, 3)
    assert (explanation.without_each != explanation.scores[:, None]).all()
    assert explanation.without_each[:, 0] != pytest.approx(explanation.without_all)


def test_equal_rows_are_left_out_together() -> None:
    frame, target = table("regression", 20)
    twice = np.append(np.arange(20), 3)
    model = NPTRegressor(**SOLVED).fit(frame.iloc[twice], target.iloc[twice])
    explanation = model.explain(frame[3:4], rows=40)
    assert sorted(explanation.context) == list(range(20))
    assert explanation.rows.shape == (1, 19)
    assert np.isfinite(explanation.without_all).all()


def test_an_explanation_of_classes_names_them() -> None:
    frame, target = table("multiclass")
    model = NPTClassifier(**SOLVED).fit(frame, target)
    explanation = model.explain(frame[:4])
    assert set(explanation.targets.ravel()) <= set(model.classes_)
    assert explanation.scores == pytest.approx(model.predict_proba(frame[:4]).max(1))


def test_rows_of_the_validation_are_in_the_context() -> None:
    frame, target = table("regression")
    model = NPTRegressor(**SOLVED).fit(frame[:60], target[:60], frame[60:], target[60:])
    whole = NPTRegressor(**SOLVED).fit(frame, target)
    assert np.array_equal(model.predict(frame), whole.predict(frame))


def test_what_it_has_not_is_refused() -> None:
    frame, target = table("regression")
    with pytest.raises(ValueError, match="refit: True"):
        NPTRegressor(**SOLVED, refit=True).fit(frame, target)
    with pytest.raises(ValueError, match="width: not a hyper-parameter"):
        NPTRegressor(**SOLVED, width=8).fit(frame, target)
    with pytest.raises(ValueError, match="predict_together: True"):
        NPTRegressor(**SOLVED, predict_together=True).fit(frame, target)
