"""Explanations by fitted rows, and what the solved NPT alone has."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from npt.estimator import NPTClassifier, NPTRegressor
from npt.solved.cross_fitted import CrossFitted
from npt.solved.model import SolvedNPT
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
    explanation = fitted.explain(frame[:6])
    assert explanation.attention.shape == (6, 40)
    assert np.allclose(explanation.attention.sum(1), 1)
    trained = fitted.model_.trained
    features = trained.features(fitted._new_rows(frame[:6]))
    with torch.no_grad():
        encoded = trained.precise.encode(features)
        blocks = trained.precise.attention_weights(encoded, trained.context)
    expected = np.mean([block.numpy().mean(1) for block in blocks], axis=(0, 1))
    assert np.allclose(explanation.attention, expected, rtol=0, atol=1e-12)


def test_rows_are_positions_whatever_the_index() -> None:
    frame, target = table("regression", 40)
    model = NPTRegressor(**SOLVED).fit(frame[10:], target[10:])
    lines = model.explain(frame[:2]).frame
    assert lines["row"].unique().tolist() == [0, 1]
    assert np.array_equal(lines["target"], target[10:].iloc[lines["fitted_row"]])


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
        outputs = smaller.outputs(smaller.features(fitted._new_rows(frame[:1])))
        predicted = smaller.decode(outputs).values[0]
        assert predicted == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("architecture", [{**COMPACT, "max_updates": 4}, SOLVED])
def test_classes_are_explained_by_their_probability(architecture: dict[str, Any]) -> None:
    frame, target = table("multiclass", 40)
    model = NPTClassifier(**architecture).fit(frame, target)
    lines = model.explain(frame[:5], rows=2).frame
    assert np.allclose(lines["score"][::2], model.predict_proba(frame[:5]).max(1))
    assert np.array_equal(lines["prediction"][::2], model.predict(frame[:5]))
    assert np.array_equal(lines["target"], target.to_numpy()[lines["fitted_row"]])


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


def test_an_explanation_is_the_prediction() -> None:
    frame, target = table("regression")
    model = NPTRegressor(**SOLVED).fit(frame, target)
    explanation = model.explain(frame[:7], rows=3)
    labels = np.asarray(target)[explanation.context]
    assert explanation.attention @ labels == pytest.approx(model.predict(frame[:7]))
    lines = explanation.frame
    assert (lines["without_row"] != lines["score"]).all()
    assert not np.allclose(lines["without_row"], lines["without_all_rows"])


def test_equal_rows_are_left_out_together() -> None:
    frame, target = table("regression", 20)
    twice = np.append(np.arange(20), 3)
    model = NPTRegressor(**SOLVED).fit(frame.iloc[twice], target.iloc[twice])
    explanation = model.explain(frame[3:4], rows=40)
    assert sorted(explanation.context) == list(range(20))
    assert len(explanation.frame) == 19
    assert np.isfinite(explanation.frame["without_all_rows"]).all()


def test_refit_and_validation_rows_have_no_effect() -> None:
    """All rows are in the context in any case."""
    frame, target = table("regression")
    expected = NPTRegressor(**SOLVED).fit(frame, target).predict(frame)
    refitted = NPTRegressor(**SOLVED, refit=True).fit(frame, target)
    assert np.array_equal(refitted.predict(frame), expected)
    for weights in (None, np.ones(60)):
        validated = NPTRegressor(**SOLVED)
        validated.fit(frame[:60], target[:60], frame[60:], target[60:], sample_weight=weights)
        assert np.array_equal(validated.predict(frame), expected)


def test_two_rows_are_enough() -> None:
    model = NPTRegressor(**SOLVED).fit([[0.0], [1.0]], [0.0, 1.0])
    assert len(model.rows_) == 2


def test_random_state_matters_to_landmarks() -> None:
    frame, target = table("regression", 60)
    settings = {"exact_rows": 10, "landmarks": 8}
    predictions = []
    for state in (0, 1):
        model = NPTRegressor(**SOLVED, settings=settings, random_state=state)
        predictions.append(model.fit(frame, target).predict(frame))
    assert not np.array_equal(*predictions)


def test_intervals_hold_the_targets_of_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(1200, 3))
    target = features[:, 0] + generator.normal(size=1200)
    model = NPTRegressor(**SOLVED).fit(features[:200], target[:200])
    interval = model.predict_interval(features[200:], 0.8)
    inside = (interval[:, 0] <= target[200:]) & (target[200:] <= interval[:, 1])
    assert inside.mean() == pytest.approx(0.8, abs=0.07)
    quantiles = model.predict_quantiles(features[200:], [0.1, 0.5, 0.9])
    assert np.array_equal(quantiles[:, [0, 2]], interval)
    assert (np.diff(quantiles, axis=1) > 0).all()
    monkeypatch.setattr("npt.estimator.solved_model.MOST_NUMBERS", 50_000)
    assert model.predict_interval(features[200:], 0.8) == pytest.approx(interval)


def test_intervals_follow_the_rows_that_a_model_has() -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(300, 3))
    target = features[:, 0] + generator.normal(size=300)
    model = NPTRegressor(**SOLVED).fit(features[:200], target[:200])
    new = features[280:]
    reordered = model.with_rows(features[199::-1], target[199::-1])
    expected = model.predict_interval(new, 0.8)
    assert reordered.predict_interval(new, 0.8) == pytest.approx(expected, abs=1e-6)
    for rows in (30, 280):
        follower = model.with_rows(features[:rows], target[:rows])
        widths = np.diff(follower.predict_interval(new, 0.8), axis=1)
        assert widths.mean() == pytest.approx(2.56, abs=0.3)  # of the noise


def test_intervals_of_few_rows_are_of_models_tuned_without_their_labels() -> None:
    frame, target = table("regression", 24)
    model = NPTRegressor(**SOLVED).fit(frame, target)
    changed = target.copy()
    changed[5] += 100
    other = NPTRegressor(**SOLVED).fit(frame, changed)
    ours, theirs = (CrossFitted(fitted.model_.trained) for fitted in (model, other))
    context = model.model_.trained.context
    place = context.places[5]
    fold = next(fold for fold in ours.folds if place in fold)
    new = context.features[:3]
    is_same = (ours.without_each(new) == theirs.without_each(new)).all(0)
    assert is_same.nonzero()[0].tolist() == sorted(fold)
    assert (ours.left_out() == theirs.left_out()).nonzero()[0].tolist() == sorted(fold)
    residuals = target.to_numpy() - ours.left_out()[context.places]
    possible = ours.without_each(new)[:, context.places] + residuals
    quantiles = model.predict_quantiles(frame.iloc[model.model_.rows[:3]], 0.5)
    assert np.isclose(possible, quantiles, rtol=1e-9).any(1).all()
    closed = model.with_rows(frame, target).predict_quantiles(frame, 0.9)
    assert not np.allclose(closed, model.predict_quantiles(frame, 0.9))


@pytest.mark.parametrize(("rows", "expected"), [(100, CrossFitted), (101, SolvedNPT)])
def test_intervals_tune_anew_with_up_to_a_hundred_rows(rows: int, expected: type) -> None:
    features = np.arange(rows * 2.0).reshape(rows, 2) % 7.3
    model = NPTRegressor(**SOLVED).fit(features, features[:, 0])
    assert type(model.model_._leaving_out) is expected


def test_the_order_of_columns_does_not_change_intervals_of_few_rows() -> None:
    frame, target = table("regression", 24)
    turned = frame[frame.columns[::-1]]
    ours, theirs = (
        NPTRegressor(**SOLVED).fit(columns, target).predict_interval(columns, 0.8)
        for columns in (frame, turned)
    )
    assert ours == pytest.approx(theirs, abs=1e-3)


@pytest.mark.parametrize("settings", [{}, {"exact_rows": 10, "landmarks": 8}])
def test_quantiles_are_of_predictions_without_each_row(settings: dict[str, int]) -> None:
    frame, target = table("regression", 120)
    model = NPTRegressor(**SOLVED, settings=settings).fit(frame, target)
    lines = model.explain(frame[:1], rows=119).frame
    trained = model.model_.trained
    without = trained.without_each(model._new_rows(frame[:1]).values[:, :-1])[0]
    places = pd.Index(model.model_.rows).get_indexer(lines["fitted_row"])
    assert without[places] == pytest.approx(lines["without_row"].to_numpy(), rel=1e-9)
    residuals = np.asarray(target) - trained.left_out()[trained.context.places]
    possible = lines["without_row"] + residuals[lines["fitted_row"]]
    median = model.predict_quantiles(frame[:1], 0.5)
    assert np.min(possible) < median < np.max(possible)
    assert np.isin(np.round(median, 9), np.round(possible, 9)).all()


def test_the_quantiles_of_a_weight_of_two_are_those_of_a_row_that_stands_twice() -> None:
    frame, target = table("regression", 30)
    weights = np.ones(30)
    weights[4] = 2
    weighted = NPTRegressor(**SOLVED).fit(frame, target, sample_weight=weights)
    twice = np.append(np.arange(30), 4)
    repeated = NPTRegressor(**SOLVED).fit(frame.iloc[twice], target.iloc[twice])
    assert weighted.predict_quantiles(frame) == pytest.approx(repeated.predict_quantiles(frame))


def test_levels_and_architectures_without_quantiles_are_refused() -> None:
    frame, target = table("regression", 18)
    model = NPTRegressor(**SOLVED).fit(frame, target)
    for levels in ([0.5, 1.5], [], "0.5", [None]):
        with pytest.raises(ValueError, match="quantiles"):
            model.predict_quantiles(frame, levels)
    for coverage in (90, "a", None, np.nan):
        with pytest.raises(ValueError, match=f"coverage: {coverage!r}; allowed"):
            model.predict_interval(frame, coverage)
    with pytest.raises(ValueError, match=r"quantiles: 0.05 needs .* weight of 19, found 18"):
        model.predict_interval(frame, 0.9)
    assert np.isfinite(model.predict_interval(frame, 0.8)).all()
    with pytest.raises(ValueError, match="only the architecture solved"):
        regressor(max_updates=2).fit(frame, target).predict_quantiles(frame)


def test_weights_too_far_apart_are_named() -> None:
    frame, target = table("regression", 20)
    weights = np.ones(20)
    weights[:3] = 1e-300
    weights[3:6] = 1e300
    with pytest.raises(ValueError, match="sample_weight or y"):
        NPTRegressor(**SOLVED).fit(frame, target, sample_weight=weights)
