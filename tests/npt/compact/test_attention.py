"""Attention against loops over its definition, and the independence of the members."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from npt.compact.attention import AttributeAttention, DatapointAttention
from npt.compact.layers import FeedForward, MemberDropout, MemberLinear
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from tests.npt.compact.tables import CPU, PLAIN, leave_one_out, randomised, started

MEMBERS, HEADS, ROWS, CONTEXT, WIDTH, LABEL = 3, 2, 5, 7, 8, 3
SETTINGS = PLAIN.changed(members=MEMBERS)
SIMILARITIES = pytest.mark.parametrize("similarity", ["distance", "dot"])


def randoms(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def datapoint_attention(**changes: object) -> DatapointAttention:
    torch.manual_seed(0)
    block = DatapointAttention(LABEL, SETTINGS.changed(**changes)).double().eval()
    with torch.no_grad():
        block.sharpness.copy_(randoms(MEMBERS, HEADS, 1, 1, seed=9))
    return block


def linear(layer: MemberLinear, member: int, vector: Tensor) -> Tensor:
    return vector @ layer.weight[member] + layer.bias[member, 0]


def norm(vector: Tensor) -> Tensor:
    return functional.layer_norm(vector, vector.shape[-1:])


def fed_forward(layer: FeedForward, member: int, vector: Tensor) -> Tensor:
    hidden = functional.gelu(linear(layer.widen, member, norm(vector)))
    return vector + linear(layer.narrow, member, hidden)


def heads_of(vectors: Tensor) -> tuple[Tensor, ...]:
    return vectors.chunk(HEADS, -1)


def reference_datapoints(
    block: DatapointAttention, rows: Tensor, others: Tensor, labels: Tensor, visible: Tensor
) -> Tensor:
    """The block row by row and head by head, with the full squared distance."""
    outputs = torch.zeros_like(rows)
    for member, i in product(range(MEMBERS), range(ROWS)):
        row = rows[member, i]
        seen = others[member, visible[i]]
        values = linear(block.value, member, norm(seen))
        if block.label is not None:
            values = values + labels[visible[i]] @ block.label[member]
        queries = heads_of(linear(block.project, member, norm(row)))
        keys = heads_of(linear(block.project, member, norm(seen)))
        parts = []
        for head, value in enumerate(heads_of(values)):
            query, key = queries[head], keys[head]
            is_product = block.similarity == "dot"
            likeness = key @ query if is_product else -(query - key).square().sum(-1)
            factor = math.exp(block.sharpness[member, head].item()) / math.sqrt(WIDTH / HEADS)
            parts.append(torch.softmax(factor * likeness, 0) @ value)
        attended = row + linear(block.merge, member, torch.cat(parts))
        outputs[member, i] = fed_forward(block.feed_forward, member, attended)
    return outputs


@SIMILARITIES
@pytest.mark.parametrize("labels_of_others", [True, False])
@torch.no_grad()
def test_datapoint_attention_equals_the_reference(similarity: str, labels_of_others: bool) -> None:
    block = datapoint_attention(similarity=similarity, labels_of_others=labels_of_others)
    rows = randoms(MEMBERS, ROWS, WIDTH)
    others = randoms(MEMBERS, CONTEXT, WIDTH, seed=1)
    labels = randoms(CONTEXT, LABEL, seed=2)
    visible = randoms(ROWS, CONTEXT, seed=3) > -0.5
    outputs = block(rows, *block.context(others, labels), ~visible)
    expected = reference_datapoints(block, rows, others, labels, visible)
    assert torch.allclose(outputs, expected, atol=1e-12)


@torch.no_grad()
def test_reported_attention_is_that_of_each_block() -> None:
    model = randomised(started(SETTINGS).model)
    rows = randoms(MEMBERS, ROWS, WIDTH)
    others = randoms(MEMBERS, CONTEXT, WIDTH, seed=1)
    labels = randoms(CONTEXT, 1, seed=2)
    reported = model.attention_weights(rows, model.context(others, labels))
    for block, weights in zip(model.between_datapoints, reported, strict=True):
        keys, values = block.context(others, labels)
        assert torch.equal(weights, block.weights(rows, keys))
        rows = block(rows, keys, values)


@torch.no_grad()
def test_attribute_attention_equals_the_reference() -> None:
    torch.manual_seed(0)
    block = AttributeAttention(SETTINGS).double().eval()
    count, width = 4, SETTINGS.token_width
    tokens = randoms(MEMBERS, ROWS, count, width)
    expected = torch.zeros_like(tokens)
    for member, i in product(range(MEMBERS), range(ROWS)):
        projected = linear(block.project, member, norm(tokens[member, i]))
        queries, keys, values = map(heads_of, projected.chunk(3, -1))
        for place, vector in enumerate(tokens[member, i]):
            parts = []
            for query, key, value in zip(queries, keys, values, strict=True):
                scores = key @ query[place] / math.sqrt(width / HEADS)
                parts.append(torch.softmax(scores, 0) @ value)
            merged = vector + linear(block.merge, member, torch.cat(parts))
            expected[member, i, place] = fed_forward(block.feed_forward, member, merged)
    assert torch.allclose(block(tokens), expected, atol=1e-12)


def outputs_of(model: CompactNPT, settings: CompactSettings) -> tuple[Tensor, Tensor]:
    """Outputs in leave-one-out, and the labels that they were computed from."""
    data = started(settings).data
    features = data.train.features.to(CPU, torch.float64)
    labels = data.train.labels.double().requires_grad_()
    own = torch.eye(len(labels), dtype=torch.bool)
    return leave_one_out(model, features, labels, own), labels


@pytest.mark.parametrize("name", ["between_datapoints", "between_attributes", "labels_of_others"])
def test_blind_twins_are_blind(name: str) -> None:
    settings = SETTINGS.changed(**{name: False})
    model = randomised(started(settings).model)
    outputs, labels = outputs_of(model, settings)
    (gradient,) = torch.autograd.grad(outputs.sum(), labels, allow_unused=True)
    reads_labels = gradient is not None and bool(gradient.abs().sum() > 0)
    assert reads_labels == (name == "between_attributes")


def test_attributes_without_attention_are_independent() -> None:
    torch.manual_seed(0)
    block = AttributeAttention(SETTINGS.changed(between_attributes=False)).double()
    tokens = randoms(MEMBERS, ROWS, 4, SETTINGS.token_width)
    other = tokens.clone()
    other[:, :, 1] += 1
    same = (block(tokens) == block(other)).all(-1)
    assert same[:, :, [0, 2, 3]].all()
    assert not same[:, :, 1].any()


def test_a_member_is_a_network_alone() -> None:
    model = randomised(started(SETTINGS).model)
    outputs, _ = outputs_of(model, SETTINGS)
    alone = SETTINGS.changed(members=1)
    for member in range(MEMBERS):
        single = randomised(started(alone).model)
        weights = {name: weight[[member]] for name, weight in model.state_dict().items()}
        single.load_state_dict(weights)
        expected, _ = outputs_of(single, alone)
        assert torch.allclose(outputs[member], expected[0], atol=1e-12)


def test_dropout_keeps_the_mean_of_every_member() -> None:
    torch.manual_seed(0)
    dropout = MemberDropout([0.0, 0.5, 0.2])
    x = torch.ones(3, 20_000)
    dropped = dropout(x)
    assert torch.equal(dropped[0], x[0])
    assert (dropped == 0).float().mean(1).tolist() == pytest.approx([0, 0.5, 0.2], abs=0.02)
    assert dropped.mean(1).tolist() == pytest.approx([1, 1, 1], abs=0.02)
    assert torch.equal(dropout.eval()(x), x)
