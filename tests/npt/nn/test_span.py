"""Attention between datapoints with a Gaussian span."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from npt.interface import UserError
from npt.nn.block import Block
from npt.nn.column_layout import ColumnLayout
from npt.nn.kernels import local
from npt.nn.kernels.attention import AttentionDropout
from npt.nn.kernels.dropout import DropoutMasks
from npt.nn.kernels.local import Rule, computed_pairs, groups_of, local_attention
from npt.nn.span import Locations, Span, feature_columns, locate
from tests.npt.nn.test_kernels import LAYOUT, SETTINGS, cells, network
from tests.npt.nn.test_patches import images

RULES = [Rule(None, False), Rule(0.1, False), Rule(None, True), Rule(0.1, True)]


def span_of(**changes: Any) -> Span:
    return Span(LAYOUT, SETTINGS.changed(kernel="span", **changes)).double()


def inputs(rows: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors = []
    for shape in ((2, 4, rows, 3), (2, 4, rows, 3), (2, 4, rows, 2), (2, rows, 5)):
        tensors.append(torch.randn(shape, generator=generator, dtype=torch.double))
    return tuple(tensors)  # type: ignore[return-value]


def plain(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    locations: Tensor,
    rule: Rule,
    scale: float,
) -> Tensor:
    scores = queries @ keys.mT * scale
    squares = torch.cdist(locations, locations).square()[:, None]
    gaussian = torch.exp(-squares / 2)
    scores = scores * gaussian if rule.multiplied else scores - squares / 2
    if rule.threshold is not None:
        scores = scores.masked_fill(gaussian < rule.threshold, -torch.inf)
    return scores.softmax(-1) @ values


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("group", [8, 1000])
@pytest.mark.parametrize("kept", [0, 2**24])
def test_groups_attend_as_all_rows_do(
    rule: Rule,
    group: int,
    kept: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "GROUP", group)
    monkeypatch.setattr(local, "KEPT_SCORES", kept)
    monkeypatch.setattr(local.groups_of, "__defaults__", (group,))
    gradients = []
    outputs = []
    for form in ("groups", "plain"):
        queries, keys, values, locations = (x.requires_grad_() for x in inputs(60))
        if form == "groups":
            output = local_attention(queries, keys, values, locations, locations, rule, scale=0.5)
        else:
            output = plain(queries, keys, values, locations, rule, 0.5)
        output.square().sum().backward()
        outputs.append(output)
        gradients.append([queries.grad, keys.grad, values.grad, locations.grad])
    assert torch.allclose(outputs[0], outputs[1], atol=1e-10)
    for ours, expected in zip(*gradients, strict=True):
        assert ours is not None and expected is not None
        assert torch.allclose(ours, expected, atol=1e-8)


def test_the_added_form_equals_inner_products() -> None:
    queries, keys, values, _ = inputs(20)
    span = span_of()
    generator = torch.Generator().manual_seed(4)
    located = torch.randn(2, 20, 5, generator=generator, dtype=torch.double)
    locations = Locations(located, located)
    ours = span.attend(queries, keys, values, locations, scale=0.5, dropout=None, present=None)
    scaled = located / span.sigma[span.column_of]
    expected = plain(queries, keys, values, scaled, Rule(None, False), 0.5)
    assert torch.allclose(ours, expected, atol=1e-10)


def test_groups_are_a_partition() -> None:
    locations = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    groups = groups_of(locations, 64)
    assert sorted(torch.cat(groups).tolist()) == list(range(1000))
    assert max(len(group) for group in groups) <= 64
    assert min(len(group) for group in groups) >= 32


def test_distant_groups_are_not_computed() -> None:
    locations = torch.rand(5000, 2, generator=torch.Generator().manual_seed(0)) * 20
    pairs = computed_pairs(locations, radius=1.0)
    near = (torch.cdist(locations, locations) <= 1).sum().item()
    assert near <= pairs < 0.3 * 5000**2
    assert computed_pairs(locations, math.inf) == 5000**2


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_the_threshold_excludes_beyond_its_radius(threshold: float) -> None:
    rule = Rule(threshold, False)
    assert rule.radius == pytest.approx(math.sqrt(-2 * math.log(threshold)))
    x = torch.tensor([[[0.0], [rule.radius * 0.999], [rule.radius * 1.001]]])
    weights = rule(torch.zeros(1, 1, 3, 3), x, x).softmax(-1)[0, 0, 0]
    assert weights[1] > 0
    assert weights[2] == 0


def test_a_gaussian_at_no_distance_changes_nothing() -> None:
    x = torch.zeros(1, 4, 2)
    scores = torch.randn(1, 2, 4, 4)
    for rule in RULES:
        assert torch.equal(rule(scores, x, x), scores)


def test_multiplied_scores_of_distant_rows_are_zero_and_added_ones_low() -> None:
    x = torch.tensor([[[0.0], [100.0]]])
    scores = torch.full((1, 1, 2, 2), -5.0)
    assert Rule(None, True)(scores, x, x)[0, 0, 0, 1] == 0
    assert Rule(None, False)(scores, x, x)[0, 0, 0, 1] < -1000


def test_a_query_without_near_rows_attends_to_some() -> None:
    queries, keys, values, _ = inputs(20)
    far = torch.full((2, 20, 1), 1000.0, dtype=torch.double)
    here = torch.zeros_like(far)
    output = local_attention(queries, keys, values, far, here, Rule(0.5, False), scale=1.0)
    assert output.isfinite().all()


def test_dropped_probabilities_are_drawn_again_in_recomputation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gradients = []
    for kept in (0, 2**24):
        monkeypatch.setattr(local, "KEPT_SCORES", kept)
        masks = DropoutMasks()
        masks.key = 3
        queries, keys, values, locations = (x.requires_grad_() for x in inputs(40))
        output = local_attention(
            queries,
            keys,
            values,
            locations,
            locations,
            Rule(0.1, False),
            scale=0.5,
            dropout=AttentionDropout(0.3, masks, 0),
        )
        masks.key = 9
        output.sum().backward()
        gradients.append(queries.grad)
    assert torch.equal(gradients[0], gradients[1])


def test_location_is_of_the_features() -> None:
    x = cells(30)
    located = locate(x, LAYOUT)
    assert located.shape == (1, 30, 5)
    squares = torch.cdist(located, located)[0].square()
    for i in range(30):
        for j in range(30):
            expected = (x.scale[0, i, 0] - x.scale[0, j, 0]) ** 2
            expected = expected + (x.scale[0, i, 2] - x.scale[0, j, 2]) ** 2
            hidden = x.mask[0, [i, j], 1].sum()
            differ = x.codes[0, i, 1] != x.codes[0, j, 1]
            category = {0: float(differ), 1: 0.5, 2: 0.0}[int(hidden)]
            assert squares[i, j] == pytest.approx(float(expected) + category, abs=1e-9)


def test_sigma_starts_at_its_setting_and_is_learned_per_column() -> None:
    model = network(kernel="span", span=2.0)
    assert list(model.spans()) == [0, 2]
    for sigma in model.spans().values():
        assert torch.allclose(sigma, torch.full((3,), 2 * math.sqrt(3)).double())
    block = model.blocks[0]
    assert isinstance(block, Block) and block.span is not None
    model.predict_target(cells(20)).square().sum().backward()
    gradient = block.span.log_sigma.grad
    assert gradient is not None
    assert len(gradient.unique()) == 3


@pytest.mark.parametrize("changes", [{"span_threshold": 0.3}, {"span_form": "multiplied"}])
def test_a_network_with_another_rule_treats_rows_alike(changes: dict[str, Any]) -> None:
    model = network(kernel="span", **changes)
    x = cells(12)
    rows = torch.tensor([[5, 2]])
    assert torch.allclose(model(x, rows), model(x)[:, rows[0]], atol=1e-12)
    present = torch.arange(12)[None] < 8
    shorter = type(x)(x.codes[:, :8], x.scale[:, :8], x.mask[:, :8])
    padded = model(x, torch.arange(8)[None], present)
    assert torch.allclose(padded, model(shorter), atol=1e-12)


def test_images_have_no_span() -> None:
    with pytest.raises(UserError, match="kernel: span"):
        feature_columns(ColumnLayout.of(images(), SETTINGS))
