"""Which fitted rows a prediction attends to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from npt.estimator import NPTClassifier, NPTRegressor
from tests.npt.estimator.small import (
    COMPACT,
    SOLVED,
    classifier,
    paper_classifier,
    regressor,
    table,
)


@pytest.fixture(scope="module")
def fitted() -> NPTRegressor:
    frame, target = table("regression", 40)
    settings = {**regressor().settings, "copies": False}
    return regressor(members=2, layers=2, settings=settings).fit(frame, target)


def test_attention_is_a_mean_over_blocks_heads_and_members(fitted: NPTRegressor) -> None:
    frame, _ = table("regression", 40)
    explanation = fitted.explain(frame[:6], rows=3)
    assert explanation.attention.shape == (6, 40)
    assert np.allclose(explanation.attention.sum(1), 1)
    trained = fitted.model_.trained
    features = trained.encoder.encode(fitted._new_rows(frame[:6])).to(
        torch.device("cpu"), torch.float64
    )
    with torch.no_grad():
        encoded = trained.precise.encode(features)
        blocks = trained.precise.attention_weights(encoded, trained.context)
    expected = np.mean([block.numpy().mean(1) for block in blocks], axis=(0, 1))
    assert np.allclose(explanation.attention, expected, rtol=0, atol=1e-12)


def test_shown_rows_have_the_highest_attention(fitted: NPTRegressor) -> None:
    frame, target = table("regression", 40)
    explanation = fitted.explain(frame[:6], rows=3)
    lines = explanation.frame
    highest = np.sort(explanation.attention, axis=1)[:, ::-1][:, :3]
    assert np.array_equal(lines["weight"], highest.ravel())
    assert np.array_equal(lines["target"], target.to_numpy()[lines["fitted_row"]])
    assert sorted(explanation.context) == sorted(fitted.model_.rows)
    assert lines["row"].tolist() == np.repeat(range(6), 3).tolist()
    assert np.array_equal(lines["prediction"][::3], fitted.predict(frame[:6]))
    assert lines.groupby("row")["without_all_rows"].nunique().tolist() == [1] * 6
    assert len(repr(explanation).splitlines()) == 7


def test_without_rows_is_a_prediction_in_the_rest_of_the_context(fitted: NPTRegressor) -> None:
    frame, _ = table("regression", 40)
    explanation = fitted.explain(frame[:1], rows=3)
    shown = explanation.frame["fitted_row"].to_numpy()
    trained = fitted.model_.trained
    for removed, expected in (
        (shown, explanation.frame["without_all_rows"][0]),
        (shown[1:2], explanation.frame["without_row"][1]),
    ):
        kept = np.flatnonzero(~np.isin(explanation.context, removed))
        smaller = replace(trained, context_rows=kept)
        predicted = smaller.predict_table(fitted._new_rows(frame[:1])).values[0]
        assert predicted == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("architecture", [{**COMPACT, "max_updates": 4}, SOLVED])
def test_classes_are_explained_by_their_probability(architecture: dict[str, Any]) -> None:
    frame, target = table("multiclass", 40)
    model = NPTClassifier(**architecture).fit(frame, target)
    lines = model.explain(frame[:5], rows=2).frame
    assert np.allclose(lines["score"][::2], model.predict_proba(frame[:5]).max(1))
    assert np.array_equal(lines["prediction"][::2], model.predict(frame[:5]))
    assert set(lines["target"]) <= set(model.classes_)


def test_rows_are_as_many_as_the_context_allows() -> None:
    frame, target = table("regression", 20)
    model = regressor(max_updates=2, context_size=4).fit(frame, target)
    lines = model.explain(frame[:2], rows=50).frame
    assert len(lines) == 2 * 3
    assert np.isfinite(lines["without_all_rows"]).all()


def test_unexplainable_models_are_refused() -> None:
    frame, target = table("multiclass", 20)
    paper = paper_classifier(max_updates=2).fit(frame, target)
    with pytest.raises(ValueError, match="compact"):
        paper.explain(frame)
    settings = {**classifier().settings, "between_datapoints": False}
    blind = classifier(max_updates=2, settings=settings).fit(frame, target)
    with pytest.raises(ValueError, match="datapoints"):
        blind.explain(frame)
    alone = classifier(max_updates=2, context_size=1).fit(frame, target)
    with pytest.raises(ValueError, match="one row"):
        alone.explain(frame)
    with pytest.raises(ValueError, match="rows"):
        alone.explain(frame, rows=0)
