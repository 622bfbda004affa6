"""Attention between datapoints: the weights are those of the forward pass, and the numbers say where they look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from npt.data.encoding import one_hot_features
from npt.interface import Resources
from npt.nn import model as model_module
from npt.nn.kernels import attention as kernels
from npt.nn.learner import NPTLearner
from tests.conftest import SMALL_NPT, first_split, make_table
from workflow.report.attention import looks_near
from workflow.studies.attention.probe import _spread, _standardised_ranks, heads


def test_they_are_the_weights_of_the_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table("regression")
    split = first_split(table)
    learner = NPTLearner(replace(SMALL_NPT, layers=4), Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    found = heads(learner, table, split.test, 5)
    assert [(one.layer, one.head) for one in found] == [(0, 0), (0, 1), (2, 0), (2, 1)]

    seen = []

    def recording(queries, keys, values, *, scale, dropout=None):  # type: ignore[no-untyped-def]
        seen.append((queries @ keys.transpose(-1, -2) * scale).softmax(-1))
        return kernels.dot_product(queries, keys, values, scale=scale, dropout=dropout)

    monkeypatch.setattr(model_module, "dot_product", recording)
    learner.predict(split.test)
    whole = [one[0] for one in seen if one.shape[0] == 1 and one.shape[-1] == 60]
    assert whole[0].shape[1] == 60 and whole[1].shape[1] == len(
        split.test
    )  # the last layer has queries of the asked alone
    features = one_hot_features(table, learner.statistics)
    for place, row in enumerate(split.test[:4]):
        others = np.delete(np.arange(60), row)
        near = -((features[others] - features[row]) ** 2).sum(1)
        for one in found:
            line = whole[0][one.head, row] if one.layer == 0 else whole[1][one.head, place]
            weights = line.detach().double().numpy()[others]
            assert one.nearness[place] == pytest.approx(
                spearmanr(weights, near).statistic, abs=1e-4
            )
            further = np.random.default_rng((0, row)).choice(others, 30, replace=False)
            elsewhere = [
                spearmanr(weights, -((features[others] - features[i]) ** 2).sum(1)).statistic
                for i in further
            ]
            assert one.typical[place] == pytest.approx(np.mean(elsewhere), abs=1e-4)
            assert one.reach[place] == pytest.approx(
                (weights / weights.sum()) @ near / near.mean(), rel=1e-4
            )
    assert all(np.isnan(one.partner).all() for one in found)
    assert all(one.relative.shape == (len(split.test), 5) for one in found)


def test_a_head_that_looks_near_has_a_number_that_says_so() -> None:
    distances = np.arange(1.0, 41.0)
    near = _standardised_ranks(-distances)
    reach, relative = _spread(np.exp(-distances), distances, 4)
    assert _standardised_ranks(np.exp(-distances)) @ near == pytest.approx(1)
    assert reach < 0.2
    assert relative[0] > 3 and relative[-1] < 0.01
    assert _standardised_ranks(distances / distances.sum()) @ near == pytest.approx(-1)
    assert _standardised_ranks(np.full(40, 1 / 40)) @ near == 0
    reach, relative = _spread(np.full(40, 1 / 40), distances, 4)
    assert reach == pytest.approx(1)
    assert relative == pytest.approx(np.ones(4))
    few = _spread(np.array([0.5, 0.5]), np.array([1.0, 2.0]), 4)[1]
    assert np.isnan(few[2:]).all()


def test_a_head_that_looks_at_the_middle_whoever_asks_does_not_look_near() -> None:
    points = np.random.default_rng(0).normal(size=(200, 2))
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    blind = _standardised_ranks(np.exp(-(points**2).sum(1) / 4))
    near = _standardised_ranks(-distances)
    own = near @ blind
    assert own.mean() > 0.3
    typical = (own.sum() - own) / 199
    assert not looks_near(own[:25], typical[:25])
    seeing = np.array([_standardised_ranks(np.exp(-line)) @ near.T for line in distances])
    nearness = np.diag(seeing)
    assert looks_near(nearness[:25], ((seeing.sum(1) - nearness) / 199)[:25])
    assert np.isnan(looks_near(nearness[:5], typical[:5]))
    assert np.isnan(looks_near(nearness[:25], np.full(25, np.nan)))


def test_another_model_s_heads_can_be_asked_and_duplicates_are_partners() -> None:
    from tests.workflow.studies.test_lookup import SETTINGS, unrelated

    table, split = unrelated(90)
    learner = NPTLearner(replace(SETTINGS, updates=1), Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    found = heads(learner, table, split.test, 5)
    assert all((one.partner > 0).all() and (one.partner < 0.2).all() for one in found)
    assert not any(np.isnan(one.typical).any() for one in found)
    other = heads(
        learner,
        table,
        split.test,
        5,
        model_module.NPT(learner.model.layout, learner.settings).eval(),
    )
    assert not np.allclose(found[0].nearness, other[0].nearness)


def test_without_attention_between_datapoints_there_is_no_head() -> None:
    table = make_table("binary")
    split = first_split(table)
    learner = NPTLearner(replace(SMALL_NPT, between_datapoints=False), Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    assert heads(learner, table, split.test, 5) == []
    assert torch.is_grad_enabled()
