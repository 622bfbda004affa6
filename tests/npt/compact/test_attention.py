"""Attention against loops over its definition, and the independence of the members."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from npt.compact.attention import AttributeAttention, DatapointAttention
from npt.compact.layers import FeedForward, MemberDropout, MemberLinear
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from tests.npt.compact.tables import CPU, PLAIN, randomised, started

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


def heads_of(vector: Tensor) -> list[Tensor]:
    return list(vector.split(len(vector) // HEADS))


def reference_weights(
    block: DatapointAttention,
    member: int,
    head: int,
    row: Tensor,
    others: Tensor,
    similarity: str,
) -> Tensor:
    """Attention of one row to each of the others."""
    query = heads_of(linear(block.project, member, norm(row)))[head]
    scores = []
    for other in others:
        key = heads_of(linear(block.project, member, norm(other)))[head]
        likeness = query @ key if similarity == "dot" else -(query - key).square().sum()
        scores.append(likeness)
    factor = math.exp(block.sharpness[member, head].item()) / math.sqrt(WIDTH / HEADS)
    return torch.softmax(factor * torch.stack(scores), 0)


def reference_datapoints(
    block: DatapointAttention,
    rows: Tensor,
    others: Tensor,
    labels: Tensor,
    visible: Tensor,
    similarity: str,
) -> Tensor:
    """The block by loops, over the definition with the full squared distance."""
    outputs = torch.zeros_like(rows)
    for member in range(MEMBERS):
        for i, row in enumerate(rows[member]):
            seen = visible[i].nonzero()[:, 0]
            parts = []
            for head in range(HEADS):
                shown = others[member, seen]
                weights = reference_weights(block, member, head, row, shown, similarity)
                total = torch.zeros(WIDTH // HEADS, dtype=torch.float64)
                for weight, j in zip(weights, seen, strict=True):
                    value = linear(block.value, member, norm(others[member, j]))
                    if block.label is not None:
                        value = value + labels[j] @ block.label[member]
                    total += weight * heads_of(value)[head]
                parts.append(total)
            row = row + linear(block.merge, member, torch.cat(parts))
            outputs[member, i] = fed_forward(block.feed_forward, member, row)
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
    expected = reference_datapoints(block, rows, others, labels, visible, similarity)
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
    for member in range(MEMBERS):
        for i in range(ROWS):
            vectors = tokens[member, i]
            projected = [linear(block.project, member, norm(vector)) for vector in vectors]
            for place, vector in enumerate(vectors):
                parts = []
                for head in range(HEADS):
                    query = heads_of(projected[place][:width])[head]
                    keys = [heads_of(p[width : 2 * width])[head] for p in projected]
                    values = [heads_of(p[2 * width :])[head] for p in projected]
                    scores = torch.stack([query @ key for key in keys])
                    weights = torch.softmax(scores / math.sqrt(width / HEADS), 0)
                    parts.append(weights @ torch.stack(values))
                merged = vector + linear(block.merge, member, torch.cat(parts))
                expected[member, i, place] = fed_forward(block.feed_forward, member, merged)
    assert torch.allclose(block(tokens), expected, atol=1e-12)


def outputs_of(model: CompactNPT, settings: CompactSettings) -> tuple[Tensor, Tensor]:
    """Outputs in leave-one-out, and the labels that they were computed from."""
    data = started(settings).data
    features = data.train.features.to(CPU, torch.float64)
    labels = data.train.labels.double().requires_grad_()
    own = torch.eye(len(labels), dtype=torch.bool)
    return model.leave_one_out(features, labels, None, own), labels


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
    for member in range(MEMBERS):
        alone = SETTINGS.changed(members=1)
        single = randomised(started(alone).model)
        with torch.no_grad():
            for one, whole in zip(single.parameters(), model.parameters(), strict=True):
                one.copy_(whole[member : member + 1])
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
