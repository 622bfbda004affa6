"""Bounds of Lipschitz constants against Jacobians."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import jacobian

from npt.nn.block import TiedBlock
from npt.nn.column_layout import ColumnLayout
from npt.nn.embedding import ColumnEmbedding
from npt.nn.influence import block_bounds, influence_bound
from npt.nn.inputs import ModelInput
from npt.nn.lipschitz import ORDERS, Norm, attention_bound, second_moment
from npt.nn.settings import TIED_KERNELS
from tests.npt.nn.test_kernels import SETTINGS, cells, network, tied_block
from tests.npt.nn.test_patches import images
from tests.npt.nn.test_patches import network as image_network

CHANGES = (1.0, 1.0, 0.0, 0.0)
PUBLISHED = {2: 2.11, 16: 6.53, 1000: 18.68}


@pytest.mark.parametrize(("positions", "published"), PUBLISHED.items())
def test_bound_of_one_dimension_is_the_published_one(positions: int, published: float) -> None:
    """4 phi^-1(n - 1) + 1, the bound in the maximum norm for one head with unit weights."""
    weight = torch.ones(1, 1, 1).double()
    bound = attention_bound(weight, weight, weight[0], positions, scale=1.0).item()
    assert bound == pytest.approx(published, abs=0.0051)


def test_bounds_of_two_heads_equal_their_formulae() -> None:
    """Two heads of width 2 on inputs of width 4, five positions, and the scale 1/2."""
    first = [[1.0, 0, 0, 2], [0, 1, 0, 0]]
    second = [[0.0, 0, 3, 0], [0, 0, 0, 1]]
    query = torch.tensor([first, second]).double()
    value = torch.tensor([[[1.0, 1, 0, 0], [0, 0, 0, 1]], [[0, 4, 0, 0], [1, 0, 0, 0]]]).double()
    output = torch.diag(torch.tensor([1.0, 2, 3, 5])).double()
    # W_0(4 / e) = 0.785..., by x exp(x + 1) = 4
    moment = second_moment(5)
    assert moment * math.exp(moment + 1) == pytest.approx(4)
    maximum = attention_bound(query, value, output, 5, scale=0.5)
    # |W^Q'|_inf of the heads: 3 and 3; |W^Q|_inf: 2 and 3; |W^V'|_inf: 2 and 4; |W^O'|_inf: 5
    assert maximum.item() == pytest.approx(0.5 * (4 * moment * math.sqrt(2) + 1) * 5 * 9 * 4)
    euclidean = attention_bound(query, value, output, 5, scale=0.5, norm="euclidean")
    # |W^Q|_2: sqrt(5) and 3; |W^V|_2: sqrt(2) and 4
    heads = math.sqrt(25 * 2 + 81 * 16)
    expected = 0.5 * (4 * moment + 1) * math.sqrt(5) * 5 * heads
    assert euclidean.item() == pytest.approx(expected)


@pytest.mark.parametrize(("layer_norm", "slope"), [("none", 1.0), ("centre", 1.5)])
def test_bounds_of_a_block_are_those_of_its_layers(layer_norm: str, slope: float) -> None:
    block = tied_block(4, kernel="l2_contractive", contraction=0.5, layer_norm=layer_norm)
    with torch.no_grad():
        block.residual.weight.copy_(torch.diag(torch.tensor([1.0, -2, 3, 0])))
        block.widen.weight.fill_(0.25)  # rows of 4
        block.narrow.weight.fill_(-0.5)  # rows of 16
    smaller = block.smaller_bound(7)
    assert smaller == min(block.bound(7), block.bound(7, "euclidean"))
    residual, attention, feed_forward = block_bounds(block, 7)
    assert residual == 3
    relative = (block.bound(7) / smaller).item()
    assert attention == pytest.approx(0.5 * slope * relative)
    assert feed_forward == pytest.approx(1 + 1.129 * 1 * 8 * slope)
    residual, attention, feed_forward = block_bounds(block, 7, "euclidean")
    assert residual == pytest.approx(3)
    relative = (block.bound(7, "euclidean") / smaller).item()
    assert attention == pytest.approx(0.5 * relative)
    # Both matrices have rank one: their Frobenius norms, of 64 elements each.
    assert feed_forward == pytest.approx(1 + 1.129 * (0.25 * 8) * (0.5 * 8))


def test_contractive_values_are_divided_by_the_smaller_bound() -> None:
    tied, contractive = (tied_block(kernel=kernel) for kernel in TIED_KERNELS)
    x = torch.randn(1, 5, 8, dtype=torch.double)
    smaller = contractive.bound(5, "euclidean")
    assert smaller < contractive.bound(5)
    assert torch.allclose(contractive.project(x)[2], tied.project(x)[2] * 0.9 / smaller)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    heads=st.sampled_from([1, 2, 4]),
    positions=st.integers(1, 7),
    weight=st.floats(-2, 2),
    spread=st.floats(-2, 2),
    contraction=st.sampled_from([None, 0.5, 0.9]),
)
def test_jacobians_are_within_the_bounds(
    seed: int, heads: int, positions: int, weight: float, spread: float, contraction: float | None
) -> None:
    torch.manual_seed(seed)
    chosen = SETTINGS.changed(kernel="l2_tied", layer_norm="none", heads=heads)
    block = TiedBlock(8, chosen).double()
    block.contraction = contraction
    block.query.weight.data *= 10**weight
    x = torch.randn(positions, 8, dtype=torch.double) * 10**spread

    def attention(x: Tensor) -> Tensor:
        queries, keys, values, _ = block.project(x[None])
        return block.mix(block.attend(queries, keys, values))

    derivatives = jacobian(attention, x).reshape(x.numel(), x.numel())
    for norm, order in ORDERS.items():
        bound = block.bound(positions, norm)
        if contraction is not None:
            bound = contraction * bound / block.smaller_bound(positions)
        assert torch.linalg.matrix_norm(derivatives, order) <= bound


@pytest.mark.parametrize("kernel", ["l2_tied", "l2_contractive"])
@pytest.mark.parametrize("layer_norm", ["none", "centre"])
@pytest.mark.parametrize("norm", ORDERS)
def test_influence_is_within_its_bound(kernel: str, layer_norm: str, norm: Norm) -> None:
    model = network(kernel=kernel, layer_norm=layer_norm)
    same, other = influence_bound(model, 6, CHANGES, norm)
    x = cells(6)
    before = model.predict_target(x)[0, :, 0]
    for column in (0, 1):
        changed = x.scale.clone()
        codes = x.codes.clone()
        if column == 0:
            changed[0, 2, 0] += 1
        else:
            codes[0, 2, 1] = (codes[0, 2, 1] + 1) % 3
        after = model.predict_target(ModelInput(codes, changed, x.mask))[0, :, 0]
        change = (after - before).abs()
        assert 0 < change[3] <= other
        assert 0 < change[2] <= same
        assert other < same


@pytest.mark.parametrize("norm", ORDERS)
def test_bounds_of_blocks_are_multiplied(norm: Norm) -> None:
    """Two pairs of blocks, over 6 rows and over 4 columns."""
    model = network(kernel="l2_tied", layer_norm="none")
    changes = model.embedding.largest_changes(CHANGES)  # type: ignore[union-attr]
    same = torch.linalg.vector_norm(changes, ORDERS[norm]).item()
    other = 0.0
    for block, positions in zip(model.blocks, (6, 4, 6, 4), strict=True):
        residual, attention, feed_forward = block_bounds(block, positions, norm)  # type: ignore[arg-type]
        source = same if positions == 6 else other
        other = (residual * other + attention * source) * feed_forward
        same *= (residual + attention) * feed_forward
    head = torch.linalg.matrix_norm(model.head.target_layer()[0], ORDERS[norm]).item()
    expected = pytest.approx((same * head, other * head))
    assert influence_bound(model, 6, CHANGES, norm) == expected


def test_the_largest_change_of_a_category_is_its_range() -> None:
    embedding = ColumnEmbedding(ColumnLayout((3, 1), (False, True), 1), 2)
    category = [[0.0, 1.0], [5.0, 2.0], [1.0, 3.0]]
    masked = [9.0, 9.0]
    embedding.weight.data = torch.tensor([*category, masked, [-3.0, 2.0], masked])
    assert embedding.largest_changes((1.0, 2.0)).tolist() == [[5.0, 2.0], [6.0, 4.0]]


def test_images_have_no_bound() -> None:
    assert influence_bound(image_network(images(4)), 6, (), "maximum") == (math.inf, math.inf)


@pytest.mark.parametrize(
    "changes", [{"kernel": "dot"}, {"kernel": "l2"}, {"layer_norm": "standard"}]
)
@pytest.mark.parametrize("others", [{}, {"between_datapoints": False}, {"attends_to": "self"}])
def test_other_settings_have_no_bound(changes: dict[str, str], others: dict[str, Any]) -> None:
    """Even so, a row that attends to no other has no influence on one."""
    model = network(**{"kernel": "l2_tied", "layer_norm": "none", **changes, **others})
    for norm in ORDERS:
        assert influence_bound(model, 6, CHANGES, norm) == (math.inf, 0 if others else math.inf)


def test_no_change_has_no_influence_even_without_a_bound() -> None:
    assert influence_bound(network(kernel="dot"), 6, (0.0,) * 4, "maximum") == (0, 0)


@pytest.mark.parametrize("changes", [{"attends_to": "self"}, {"contraction": 0}])
def test_without_attention_to_other_rows_none_has_influence(changes: dict[str, Any]) -> None:
    model = network(**{"kernel": "l2_contractive", "layer_norm": "none", **changes})
    for norm in ORDERS:
        same, other = influence_bound(model, 6, CHANGES, norm)
        assert math.isfinite(same)
        assert other == 0
        assert influence_bound(model, 1, CHANGES, norm) == (same, 0)
