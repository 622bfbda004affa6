"""Attention between datapoints: weights of the forward pass, compared with distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from npt.compact.probe import CompactProbe
from npt.data.encoding import one_hot_features
from npt.interface import Resources
from npt.nn import block as block_module
from npt.nn.kernels import attention as kernels
from npt.nn.probe import NPTProbe
from npt.nn.trained import TrainedNPT, query_batches
from tests.npt.compact.tables import small_compact
from tests.workflow.studies.models import lookup_npt, small_npt
from workflow.studies import kinds
from workflow.studies.attention.probe import heads, spread, standardised_ranks
from workflow.studies.attention.view import is_local
from workflow.studies.query import ProbeQuery


def test_weights_are_those_of_the_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, table, split = small_npt("regression", layers=4)
    measured = heads(NPTProbe(trained), table, split.test)
    assert list(measured) == [(0, 0), (0, 1), (2, 0), (2, 1)]

    seen = []

    def recording(queries, keys, values, *, scale, **options):  # type: ignore[no-untyped-def]
        seen.append((queries @ keys.transpose(-1, -2) * scale).softmax(-1))
        return kernels.dot_product(queries, keys, values, scale=scale, **options)

    monkeypatch.setattr(block_module, "dot_product", recording)
    trained.predict(split.test)
    first, last = (x[0].double() for x in seen if x.shape[0] == 1 and x.shape[-1] == 60)
    assert first.shape[1] == 60
    assert last.shape[1] == len(split.test)  # the last layer has the queries of test rows only
    features = one_hot_features(table, trained.statistics)
    for index, row in enumerate(split.test[:4]):
        others = np.delete(np.arange(60), row)
        further = np.random.default_rng((0, row)).choice(others, 30, replace=False)
        distances = ((features[others] - features[row]) ** 2).sum(1)
        for (layer, head), frame in measured.items():
            line = first[head, row] if layer == 0 else last[head, index]
            weights = line.detach().numpy()[others]
            nearness = spearmanr(weights, -distances).statistic
            assert frame["nearness"][index] == pytest.approx(nearness, abs=1e-4)
            typical = [
                spearmanr(weights, -((features[others] - features[i]) ** 2).sum(1)).statistic
                for i in further
            ]
            assert frame["typical"][index] == pytest.approx(np.mean(typical), abs=1e-4)
            reach = (weights / weights.sum()) @ distances / distances.mean()
            assert frame["reach"][index] == pytest.approx(reach, rel=1e-4)
    for frame in measured.values():
        assert frame["partner"].isna().all()
        assert [len(bins) for bins in frame["relative"]] == [20] * len(split.test)


def test_spread_of_local_and_of_uniform_attention() -> None:
    distances = np.arange(1.0, 41.0)
    reach, relative = spread(np.exp(-distances), distances, 4)
    assert reach < 0.2
    assert relative[0] > 3
    assert relative[-1] < 0.01
    reach, relative = spread(np.full(40, 1 / 40), distances, 4)
    assert reach == pytest.approx(1)
    assert relative == pytest.approx(np.ones(4))
    _, relative = spread(np.array([0.5, 0.5]), np.array([1.0, 2.0]), 4)
    assert np.isnan(relative[2:]).all()
    assert not standardised_ranks(np.full(40, 1 / 40)).any()


def test_a_head_that_ignores_the_query_is_not_local() -> None:
    points = np.random.default_rng(0).normal(size=(200, 2))
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    near = standardised_ranks(-distances)
    central = near @ standardised_ranks(np.exp(-(points**2).sum(1) / 4))
    assert central.mean() > 0.3
    typical = (central.sum() - central) / 199
    assert not is_local(pd.Series(central[:25]), pd.Series(typical[:25]))
    local = np.array([standardised_ranks(np.exp(-line)) @ near.T for line in distances])
    nearness = np.diag(local)
    typical = (local.sum(1) - nearness) / 199
    near_rows = pd.Series(nearness[:25])
    assert is_local(near_rows, pd.Series(typical[:25]))
    assert np.isnan(is_local(near_rows[:5], pd.Series(typical[:5])))
    assert np.isnan(is_local(near_rows, pd.Series(np.full(25, np.nan))))


def test_partner_is_the_attention_to_the_own_duplicate() -> None:
    trained, table, split = lookup_npt(90, updates=1)
    first = heads(NPTProbe(trained), table, split.test)[0, 0]
    assert first["typical"].notna().all()
    partner = dict(zip(split.test.tolist(), first["partner"], strict=True))
    for batch in query_batches(trained, split.test):
        weights = trained.model.attention_weights(batch.inputs, batch.queries[None])[0][0, 0]
        for line, query in zip(weights, batch.queries.tolist(), strict=True):
            duplicate = len(batch.rows) + query
            expected = partner[int(batch.rows[query])]
            assert line[duplicate].item() == pytest.approx(expected, rel=1e-5)


def test_heads_are_compared_with_those_before_training() -> None:
    trained, table, split = small_npt("regression")
    rows = split.test[:4]
    kind = kinds()["attention"]
    query = ProbeQuery(NPTProbe(trained), table, split, rows, 0, kind.options())
    facts, _ = kind.probe(query)
    initial = TrainedNPT.untrained(trained.settings, Resources(), table, split, trained.seed)
    after = heads(NPTProbe(trained), table, rows)
    before = heads(NPTProbe(initial), table, rows)
    assert not np.allclose(after[0, 0]["nearness"], before[0, 0]["nearness"])
    for index, head in enumerate(facts["heads"]["heads"]):
        assert (head["layer"], head["head"]) == (0, index)
        frame = after[0, index]
        for name in ("nearness", "typical", "reach"):
            assert head[name] == pytest.approx(frame[name].to_numpy(), rel=1e-4)
        untrained = before[0, index]["nearness"].to_numpy()
        assert head["untrained"] == pytest.approx(untrained, rel=1e-4)
        assert set(head["partner"]) == {None}
        relative = facts["maps"]["rows"][index]
        assert np.array(relative) == pytest.approx(np.stack(frame["relative"]), rel=1e-4)


@pytest.mark.parametrize("changes", [{"between_datapoints": False}, {"attends_to": "self"}])
def test_a_model_without_attention_to_other_rows_has_no_head(changes: dict[str, Any]) -> None:
    trained, table, split = small_npt("binary", **changes)
    assert heads(NPTProbe(trained), table, split.test) == {}
    assert torch.is_grad_enabled()


def test_heads_of_a_compact_npt_are_compared_with_distances() -> None:
    trained, table, split = small_compact("regression")
    settings = trained.settings
    rows = split.test[:4]
    kind = kinds()["attention"]
    facts, _ = kind.probe(ProbeQuery(CompactProbe(trained), table, split, rows, 0, kind.options()))
    places = [(head["layer"], head["head"]) for head in facts["heads"]["heads"]]
    every_head = range(settings.members * settings.heads)
    assert places == [(layer, head) for layer in (1, 2) for head in every_head]
    features = one_hot_features(table, trained.statistics)
    context = trained.context_rows
    weights = {
        attention.row: attention.weights for attention in CompactProbe(trained).attention(rows)
    }
    for place, row in enumerate(rows.tolist()):
        distances = ((features[context] - features[row]) ** 2).sum(1)
        for head in facts["heads"]["heads"]:
            of_head = weights[row][head["layer"]][head["head"]]
            nearness = spearmanr(of_head, -distances).statistic
            assert head["nearness"][place] == pytest.approx(nearness, abs=1e-4)
            assert head["untrained"][place] != head["nearness"][place]


def test_attention_to_the_own_class_is_in_multiples_of_the_mean() -> None:
    trained, table, split = small_npt("multiclass")
    rows = split.test[:4]
    measured = heads(NPTProbe(trained), table, rows)
    by_row = {attention.row: attention for attention in NPTProbe(trained).attention(rows)}
    codes = table.cells[table.target]
    for index, row in enumerate(rows.tolist()):
        attention = by_row[row]
        same = codes[attention.context] == codes[row]
        for (layer, head), frame in measured.items():
            weights = attention.weights[layer][head]
            expected = weights[same].mean() / weights.mean()
            assert frame["own_class"][index] == pytest.approx(expected)
    trained, table, split = small_npt("regression")
    for frame in heads(NPTProbe(trained), table, rows).values():
        assert frame["own_class"].isna().all()
