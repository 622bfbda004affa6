"""Attention between datapoints with a Gaussian span."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from npt.errors import UserError
from npt.nn.block import Block
from npt.nn.column_layout import ColumnLayout
from npt.nn.kernels import local
from npt.nn.kernels.dropout import Dropout
from npt.nn.kernels.local import groups_of, local_attention, neighbourhoods
from npt.nn.span import Locations, Span, feature_columns, locate
from tests.npt.nn.test_kernels import LAYOUT, SETTINGS, cells, network
from tests.npt.nn.test_patches import images

RESNET = {
    "encoder": "resnet18",
    "between_attributes": False,
    "feature_mask": 0,
    "tradeoff_start": 0,
}


def span_of(**changes: Any) -> Span:
    return Span(LAYOUT, SETTINGS.changed(kernel="span", **changes)).double()


def inputs(rows: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors = []
    by_head = (2, 4, rows)
    for shape in ((*by_head, 3), (*by_head, 3), (*by_head, 2), (2, rows, 5)):
        tensors.append(torch.randn(shape, generator=generator, dtype=torch.double))
    return tuple(tensors)  # type: ignore[return-value]


def plain(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: float,
    locations: Tensor,
    radius: float,
) -> Tensor:
    scores = queries @ keys.mT * scale
    distances = torch.cdist(locations, locations)[:, None]
    return scores.masked_fill(distances > radius, -torch.inf).softmax(-1) @ values


@pytest.mark.parametrize("radius", [1e-3, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("size", [8, 1000])
def test_groups_attend_as_all_rows_do(
    radius: float,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local.neighbourhoods, "__defaults__", (None, size))
    outputs = []
    gradients = []
    for is_local in (True, False):
        *tensors, locations = inputs(60)
        queries, keys, values = (x.requires_grad_() for x in tensors)
        if is_local:
            output = local_attention(queries, keys, values, locations, locations, radius, scale=0.5)
        else:
            output = plain(queries, keys, values, 0.5, locations, radius)
        output.square().sum().backward()
        outputs.append(output)
        gradients.append([queries.grad, keys.grad, values.grad])
    assert torch.allclose(outputs[0], outputs[1], atol=1e-10)
    for ours, expected in zip(*gradients, strict=True):
        assert ours is not None
        assert expected is not None
        assert torch.allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("threshold", [None, 0.02])
@pytest.mark.parametrize("form", ["added", "multiplied"])
def test_attention_equals_its_equation(threshold: float | None, form: str) -> None:
    queries, keys, values, located = inputs(20)
    span = span_of(span_threshold=threshold, span_form=form)
    locations = Locations(located, located)
    ours = span.attend(queries, keys, values, locations, scale=0.5, dropout=None, present=None)
    scores = queries @ keys.mT * 0.5
    scaled = located / span.sigma[span.column_of]
    gaussian = torch.exp(-torch.cdist(scaled, scaled).square() / 2)[:, None]
    expected = scores + gaussian.log() if form == "added" else scores * gaussian
    assert 0 < (gaussian < 0.02).float().mean() < 1
    if threshold is not None:
        expected = expected.masked_fill(gaussian < threshold, -torch.inf)
    assert torch.allclose(ours, expected.softmax(-1) @ values, atol=1e-10)
    weighed = span.weigh(scores, locations)
    assert torch.allclose(weighed.softmax(-1), expected.softmax(-1), atol=1e-10)


def test_groups_are_a_partition() -> None:
    locations = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0))
    groups = groups_of(locations, 64)
    assert sorted(torch.cat(groups).tolist()) == list(range(1000))
    assert max(len(group) for group in groups) <= 64
    assert min(len(group) for group in groups) >= 32


def test_distant_rows_are_not_computed() -> None:
    locations = torch.rand(2000, 2, generator=torch.Generator().manual_seed(0)) * 20
    groups = neighbourhoods(locations, locations, radius=1.0)
    pairs = sum(group.bias.numel() for group in groups)
    near = (torch.cdist(locations, locations) <= 1).sum().item()
    assert near <= pairs < 0.1 * 2000**2


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_the_threshold_excludes_beyond_its_radius(threshold: float) -> None:
    span = span_of(span_threshold=threshold)
    assert span.radius == pytest.approx(math.sqrt(-2 * math.log(threshold)))
    x = torch.zeros(1, 3, 5, dtype=torch.double)
    x[0, 1, 0] = span.radius * 0.999 * span.sigma[0].item()
    x[0, 2, 0] = span.radius * 1.001 * span.sigma[0].item()
    scores = span.weigh(torch.zeros(1, 1, 3, 3), Locations(x, x))
    weights = scores.softmax(-1)[0, 0, 0]
    assert weights[1] > 0
    assert weights[2] == 0
    assert span.near_fraction(x[0]) == pytest.approx(7 / 9)


@pytest.mark.parametrize("form", ["added", "multiplied"])
def test_a_gaussian_at_no_distance_changes_nothing(form: str) -> None:
    x = torch.zeros(1, 4, 5)
    scores = torch.randn(1, 2, 4, 4, dtype=torch.double)
    assert torch.equal(span_of(span_form=form).weigh(scores, Locations(x, x)), scores)


def test_multiplied_scores_of_distant_rows_are_zero_and_added_ones_low() -> None:
    x = torch.zeros(1, 2, 5, dtype=torch.double)
    x[0, 1, 0] = 100
    scores = torch.full((1, 1, 2, 2), -5.0, dtype=torch.double)
    locations = Locations(x, x)
    assert span_of(span_form="multiplied").weigh(scores, locations)[0, 0, 0, 1] == 0
    assert span_of().weigh(scores, locations)[0, 0, 0, 1] < -1000


def test_a_query_without_near_rows_attends_to_the_nearest() -> None:
    queries, keys, values, located = inputs(20)
    output = local_attention(queries, keys, values, located + 1000, located, 0.5, scale=1.0)
    nearest = torch.cdist(located + 1000, located).argmin(-1)
    indices = nearest[:, None, :, None].expand(-1, 4, -1, 2)
    assert torch.allclose(output, values.gather(2, indices))


def test_a_dropped_mask_is_drawn_again_in_the_backward_pass() -> None:
    gradients = []
    for later_key in (3, 9):
        dropout = Dropout(0.3)
        dropout.key = 3
        queries, keys, values, located = inputs(40)
        queries.requires_grad_()
        output = local_attention(
            queries,
            keys,
            values,
            located,
            located,
            2.0,
            scale=0.5,
            dropout=dropout,
        )
        dropout.key = later_key
        output.sum().backward()
        gradients.append(queries.grad)
    assert gradients[0] is not None
    assert torch.equal(gradients[0], gradients[1])


def test_dropout_follows_its_equation() -> None:
    dropout = Dropout(0.3)
    dropout.key = 3
    *tensors, located = inputs(40)
    queries, keys, values = (x[:1].requires_grad_() for x in tensors)
    located = located[:1]
    ours = local_attention(
        queries, keys, values, located, located, math.inf, scale=0.5, dropout=dropout
    )
    (group,) = neighbourhoods(located[0], located[0], math.inf)
    assert torch.equal(group.rows, torch.arange(40))
    probabilities = (queries @ keys.mT * 0.5).softmax(-1)
    expected = dropout.drop(probabilities[0], 0, 3) @ values[0]
    assert torch.allclose(ours[0], expected, atol=1e-12)
    gradients = []
    for output in (ours[0], expected):
        gradients.append(torch.autograd.grad(output.square().sum(), [queries, keys, values]))
    for first, second in zip(*gradients, strict=True):
        assert torch.allclose(first, second, atol=1e-10)


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


@pytest.mark.parametrize("changes", [{}, RESNET])
def test_images_have_no_span(changes: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="kernel: span"):
        feature_columns(ColumnLayout.of(images(), SETTINGS.changed(**changes)))


def test_a_target_alone_has_no_span() -> None:
    with pytest.raises(UserError, match="with a feature"):
        feature_columns(LAYOUT.only_target())


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"span_threshold": 0.1}, "span_threshold"),
        ({"span_form": "multiplied", "kernel": "l2"}, "span_form"),
        ({"kernel": "span", "between_datapoints": False}, "kernel"),
        ({"kernel": "span", "attends_to": "self"}, "kernel"),
        ({"attends_to": "self", "between_datapoints": False}, "attends_to"),
        ({"kernel": "span", "span_threshold": 1.0}, "span_threshold"),
        ({"kernel": "span", "span": 0}, "span"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        SETTINGS.changed(**changes)
