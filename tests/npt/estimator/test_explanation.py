"""Which fitted rows a prediction attends to."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from npt.estimator import NPTRegressor
from npt.estimator.compact_model import CompactModel
from tests.npt.estimator.small import classifier, paper_classifier, regressor, table


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
    model = fitted.model_
    assert isinstance(model, CompactModel)
    trained = model.trained
    features = trained.encoder.encode(fitted._new_rows(frame[:6])).to(
        torch.device("cpu"), torch.float64
    )
    with torch.no_grad():
        encoded = trained.precise.encode(features)
        blocks = trained.precise.attention_weights(encoded, trained.context)
    of_blocks = [block.numpy().mean(1) for block in blocks]
    expected = np.mean(of_blocks, axis=(0, 1))
    assert np.allclose(explanation.attention, expected, rtol=0, atol=1e-12)


def test_shown_rows_have_the_highest_attention(fitted: NPTRegressor) -> None:
    frame, target = table("regression", 40)
    explanation = fitted.explain(frame[:6], rows=3)
    highest = np.sort(explanation.attention, axis=1)[:, ::-1][:, :3]
    assert np.array_equal(explanation.weights, highest)
    assert np.array_equal(explanation.targets, target.to_numpy()[explanation.rows])
    assert set(explanation.context) == set(model_rows(fitted))
    assert np.array_equal(explanation.predictions, fitted.predict(frame[:6]))
    lines = explanation.frame
    assert lines["row"].tolist() == np.repeat(range(6), 3).tolist()
    assert lines["fitted_row"].tolist() == explanation.rows.ravel().tolist()
    assert lines.groupby("row")["without_all_rows"].nunique().tolist() == [1] * 6
    assert len(repr(explanation).splitlines()) == 7


def model_rows(fitted: NPTRegressor) -> list[int]:
    model = fitted.model_
    assert isinstance(model, CompactModel)
    return model.rows.tolist()


def test_without_rows_is_a_prediction_in_the_rest_of_the_context(fitted: NPTRegressor) -> None:
    frame, _ = table("regression", 40)
    explanation = fitted.explain(frame[:1], rows=3)
    trained = fitted.model_.trained
    table_ = fitted._new_rows(frame[:1])
    for removed, expected in (
        (explanation.rows[0], explanation.without_all[0]),
        (explanation.rows[0, 1:2], explanation.without_each[0, 1]),
    ):
        kept = np.flatnonzero(~np.isin(explanation.context, removed))
        smaller = type(trained)(
            model=trained.model,
            encoder=trained.encoder,
            table=trained.table,
            context_rows=kept,
            settings=trained.settings,
            seed=trained.seed,
        )
        assert smaller.predict_table(table_).values[0] == pytest.approx(expected, abs=1e-9)


def test_classes_are_explained_by_their_probability() -> None:
    frame, target = table("multiclass", 40)
    model = classifier(max_updates=4).fit(frame, target)
    explanation = model.explain(frame[:5], rows=2)
    probabilities = model.predict_proba(frame[:5])
    assert np.allclose(explanation.scores, probabilities.max(1))
    assert np.array_equal(explanation.predictions, model.predict(frame[:5]))
    assert explanation.without_each.shape == (5, 2)
    assert set(explanation.targets.ravel()) <= set(model.classes_)


def test_rows_are_as_many_as_the_context_allows() -> None:
    frame, target = table("regression", 20)
    model = regressor(max_updates=2, context_size=4).fit(frame, target)
    explanation = model.explain(frame[:2], rows=50)
    assert explanation.rows.shape == (2, 3)
    assert np.isfinite(explanation.without_all).all()


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
