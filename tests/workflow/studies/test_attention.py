"""Attention between datapoints: measures of the weights of heads, compared with distances."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from npt.compact.probe import CompactProbe
from npt.data.encoding import one_hot_features
from npt.nn.probe import NPTProbe
from npt.nn.trained import TrainedNPT, query_batches
from tests.npt.compact.tables import small_compact
from tests.workflow.studies.models import lookup_npt, small_npt
from workflow.studies import kinds
from workflow.studies.attention.probe import FURTHER, heads, spread, standardised_ranks
from workflow.studies.attention.view import is_local
from workflow.studies.query import ProbeQuery

KIND = kinds()["attention"]


def test_unknown_classes_are_no_class_of_their_own() -> None:
    trained, table, split = small_npt("multiclass")
    rows = split.test[:2]
    truth = table.truth.copy()
    truth[[rows[0], *split.train[:3]]] = np.nan
    hidden = table.with_numbers(table.target, truth)
    for frame in heads(NPTProbe(trained), hidden, rows).values():
        assert frame["own_class"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("model", "probed", "layers"),
    [
        (lambda: small_npt("regression", layers=4), NPTProbe, (0, 2)),
        (lambda: small_npt("multiclass"), NPTProbe, (0,)),
        (lambda: small_compact("regression"), CompactProbe, (1, 2)),
    ],
    ids=["regression", "classes", "compact"],
)
def test_measures_compare_weights_with_distances(
    model: Callable[[], Any], probed: Any, layers: tuple[int, ...]
) -> None:
    trained, table, split = model()
    probe = probed(trained)
    rows = split.test[:4]
    measured = heads(probe, table, rows)
    features = one_hot_features(table, trained.statistics)
    codes = table.cells[table.target]
    for attention in probe.attention(rows):
        row, context = attention.row, attention.context
        sample = np.random.default_rng((trained.seed, row)).choice(
            len(context), min(FURTHER, len(context)), replace=False
        )
        distances = ((features[context] - features[row]) ** 2).sum(1)
        same = codes[context] == codes[row]
        assert {layer for layer, _ in measured} == set(attention.weights) == set(layers)
        for (layer, head), frame in measured.items():
            weights = attention.weights[layer][head]
            line = frame.iloc[rows.tolist().index(row)]
            nearness = spearmanr(weights, -distances).statistic
            assert line["nearness"] == pytest.approx(nearness, abs=1e-4)
            typical = []
            for further in context[sample]:
                others = ((features[context] - features[further]) ** 2).sum(1)
                typical.append(spearmanr(weights, -others).statistic)
            assert line["typical"] == pytest.approx(np.mean(typical), abs=1e-4)
            reach = weights @ distances / weights.sum() / distances.mean()
            assert line["reach"] == pytest.approx(reach, rel=1e-4)
            own_class = np.nan
            if table.task != "regression":
                own_class = weights[same].mean() / weights.mean()
            assert line["own_class"] == pytest.approx(own_class, nan_ok=True)
            assert np.isnan(line["partner"])
            assert len(line["relative"]) == 20


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
    central = np.tile(np.exp(-(points**2).sum(1) / 4), (200, 1))  # near to all
    for weights, expected in ((central, 0), (np.exp(-distances), 1)):
        correlations = standardised_ranks(weights) @ near.T
        nearness = pd.Series(np.diag(correlations))
        typical = (correlations.sum(1) - nearness) / 199
        assert nearness.mean() > 0.3
        assert is_local(nearness[:25], typical[:25]) == expected
    assert np.isnan(is_local(nearness[:5], typical[:5]))
    assert np.isnan(is_local(nearness, typical * np.nan))


def test_partner_is_the_attention_to_the_own_duplicate() -> None:
    trained, table, split = lookup_npt(90, updates=1)
    first = heads(NPTProbe(trained), table, split.test)[0, 0]
    assert first["typical"].notna().all()
    partner = dict(zip(split.test.tolist(), first["partner"], strict=True))
    attentions = {attention.row: attention for attention in NPTProbe(trained).attention(split.test)}
    for batch in query_batches(trained, split.test):
        weights = trained.model.attention_weights(batch.inputs, batch.queries[None])[0][0, 0]
        for line, query in zip(weights, batch.queries.tolist(), strict=True):
            duplicate = len(batch.rows) + query
            expected = partner[int(batch.rows[query])]
            assert line[duplicate].item() == pytest.approx(expected, rel=1e-5)
            head = attentions[int(batch.rows[query])].weights[0][0]
            assert head == pytest.approx(np.delete(line.tolist(), query), rel=1e-5)


def test_heads_are_compared_with_those_before_training() -> None:
    trained, table, split = small_npt("regression")
    trained = replace(trained, seed=3)
    rows = split.test[:4]
    query = ProbeQuery(NPTProbe(trained), table, split, rows, 0, KIND.options())
    facts, _ = KIND.probe(query)
    initial = TrainedNPT.untrained(trained.settings, trained.device, table, split, trained.seed)
    after = heads(NPTProbe(trained), table, rows)
    before = heads(NPTProbe(initial), table, rows)
    assert not np.allclose(after[0, 0]["nearness"], before[0, 0]["nearness"])
    for index, head in enumerate(facts["heads"]["heads"]):
        assert (head["layer"], head["head"]) == (0, index)
        assert head["nearness"] == pytest.approx(after[0, index]["nearness"].tolist(), rel=1e-4)
        assert head["untrained"] == pytest.approx(before[0, index]["nearness"].tolist(), rel=1e-4)
        relative = np.array(facts["maps"]["rows"][index])
        assert relative == pytest.approx(np.stack(after[0, index]["relative"]), rel=1e-4)


@pytest.mark.parametrize("changes", [{"between_datapoints": False}, {"attends_to": "self"}])
def test_a_model_without_attention_to_other_rows_has_no_head(changes: dict[str, Any]) -> None:
    trained, table, split = small_npt("binary", **changes)
    assert heads(NPTProbe(trained), table, split.test) == {}
    assert torch.is_grad_enabled()
