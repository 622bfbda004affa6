"""Bounds of Lipschitz constants against Jacobians."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from npt.nn.block import TiedBlock, build_block
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.lipschitz import attention_bound, influence_bound, second_moment
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from tests.npt.nn.test_kernels import LAYOUT, SETTINGS, cells, network, tied_block
from tests.npt.nn.test_patches import images

CHANGES = (1.0, 1.0, 0.0, 0.0)
NORMS = {"maximum": math.inf, "euclidean": 2}
PUBLISHED = {2: 2.11, 4: 3.41, 8: 4.89, 16: 6.53, 32: 8.32, 64: 10.23, 128: 12.24, 1000: 18.68}


def attention_of(block: TiedBlock) -> Callable[[Tensor], Tensor]:
    """Attention with its output layer."""

    def attention(x: Tensor) -> Tensor:
        queries, keys, values, _ = block.project(x[None])
        return block.mix(block.attend(queries, keys, values))[0]

    return attention


def jacobian(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(function, x).reshape(x.numel(), x.numel())


@pytest.mark.parametrize(("positions", "bound"), PUBLISHED.items())
def test_bound_of_one_dimension_is_the_published_one(positions: int, bound: float) -> None:
    one = torch.ones(1, 1, 1, dtype=torch.double)
    numbers = torch.tensor(float(positions), dtype=torch.double)
    ours = attention_bound(one, one, one[0], numbers, scale=1.0)
    assert ours.item() == pytest.approx(bound, abs=0.0051)


def test_the_moment_solves_its_equation() -> None:
    numbers = torch.tensor([2.0, 10, 1e5], dtype=torch.double)
    x = second_moment(numbers)
    assert torch.allclose(x * torch.exp(x + 1), numbers - 1)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    heads=st.sampled_from([1, 2, 4]),
    positions=st.integers(1, 7),
    weight=st.floats(-2, 2),
    spread=st.floats(-2, 2),
)
def test_jacobians_are_within_the_bounds(
    seed: int,
    heads: int,
    positions: int,
    weight: float,
    spread: float,
) -> None:
    torch.manual_seed(seed)
    chosen = SETTINGS.changed(kernel="l2_tied", layer_norm="none", heads=heads)
    block = build_block(8, chosen).double()
    assert isinstance(block, TiedBlock)
    block.query.weight.data *= 10**weight
    x = torch.randn(positions, 8, dtype=torch.double) * 10**spread
    derivatives = jacobian(attention_of(block), x)
    for norm, order in NORMS.items():
        assert torch.linalg.matrix_norm(derivatives, order) <= block.bound(positions, norm)


def test_the_square_in_place_of_the_fourth_power_is_no_bound() -> None:
    block = tied_block(layer_norm="none", heads=1)
    block.query.weight.data *= 300
    x = torch.randn(5, 8, dtype=torch.double) / 10
    found = torch.linalg.matrix_norm(jacobian(attention_of(block), x), 2)
    norm = torch.linalg.matrix_norm(block.query.weight, 2)
    with_square = block.bound(5, "euclidean") / norm
    assert with_square < found <= block.bound(5, "euclidean")


@pytest.mark.parametrize("t", [1.0, 10.0, 100.0])
def test_dot_products_have_no_bound(t: float) -> None:
    x = torch.tensor([[0.0], [t]], dtype=torch.double)

    def dot(x: Tensor) -> Tensor:
        return (x @ x.T).softmax(-1) @ x

    derivative = jacobian(dot, x)[0, 0].item()
    assert derivative == pytest.approx(0.5 + t**2 / 4, rel=1e-9)


@pytest.mark.parametrize(("t", "norm"), [(1.0, 1.25), (10.0, 1.0), (100.0, 1.0)])
def test_distances_have_one_at_the_same_inputs(t: float, norm: float) -> None:
    x = torch.tensor([[0.0], [t]], dtype=torch.double)

    def by_distance(x: Tensor) -> Tensor:
        return (-(x - x.T).square()).softmax(-1) @ x

    found = torch.linalg.matrix_norm(jacobian(by_distance, x), math.inf).item()
    assert found == pytest.approx(norm, abs=0.01)
    assert (
        found
        < attention_bound(
            *[torch.ones(1, 1, 1).double()] * 2,
            torch.ones(1, 1).double(),
            torch.tensor(2.0).double(),
            scale=1.0,
        ).item()
    )


def test_keys_of_their_own_have_no_bound() -> None:
    """With W^Q = 1 and W^K = 1/2, x_1 = t / 3 is as far from its own key as from that of t."""

    def untied(x: Tensor) -> Tensor:
        return (-(x - x.T / 2).square()).softmax(-1) @ x

    largest = []
    for t in (10.0, 100.0, 1000.0):
        x = torch.tensor([[t / 3], [t]], dtype=torch.double)
        largest.append(torch.linalg.matrix_norm(jacobian(untied, x), math.inf).item())
    assert largest[1] / largest[0] == pytest.approx(100, rel=0.2)
    assert largest[2] / largest[1] == pytest.approx(100, rel=0.2)


@pytest.mark.parametrize("contraction", [0.5, 0.9])
@pytest.mark.parametrize("spread", [0.01, 1.0, 100.0])
def test_contractive_attention_has_a_jacobian_below_one(contraction: float, spread: float) -> None:
    block = tied_block(kernel="l2_contractive", contraction=contraction, layer_norm="none")
    x = torch.randn(6, 8, dtype=torch.double) * spread
    found = torch.linalg.matrix_norm(jacobian(attention_of(block), x), math.inf)
    assert found <= contraction


def test_fixed_point_iteration_inverts_contractive_attention() -> None:
    block = tied_block(kernel="l2_contractive", contraction=0.9, layer_norm="none")
    attention = attention_of(block)
    x = torch.randn(6, 8, dtype=torch.double)
    y = x + attention(x)
    inverse = y
    for _ in range(100):
        inverse = y - attention(inverse)
    assert (inverse - x).abs().max() < 1e-6


@pytest.mark.parametrize("kernel", ["l2_tied", "l2_contractive"])
@pytest.mark.parametrize("layer_norm", ["none", "centre"])
def test_influence_is_within_its_bound(kernel: str, layer_norm: str) -> None:
    model = network(kernel=kernel, layer_norm=layer_norm)
    own, other = influence_bound(model, 6, CHANGES)
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
        assert 0 < change[2] <= own
        assert other < own


def test_without_attention_between_datapoints_no_row_has_influence() -> None:
    model = network(kernel="l2_tied", layer_norm="none", between_datapoints=False)
    own, other = influence_bound(model, 6, CHANGES)
    assert math.isfinite(own)
    assert other == 0


@pytest.mark.parametrize(
    "changes", [{"kernel": "dot"}, {"kernel": "l2"}, {"layer_norm": "standard"}]
)
def test_other_kernels_and_layer_norm_have_no_bound(changes: dict[str, str]) -> None:
    chosen = NPTSettings(
        **{**SETTINGS.model_dump(), "kernel": "l2_tied", "layer_norm": "none", **changes}
    )
    own, other = influence_bound(NPT(LAYOUT, chosen), 6, CHANGES)
    assert math.isinf(own)
    assert math.isinf(other)


def test_influence_of_an_image_is_within_its_bound() -> None:
    table = images()
    chosen = SETTINGS.changed(kernel="l2_contractive", layer_norm="none", patch=4)
    torch.manual_seed(0)
    model = NPT(ColumnLayout.of(table, chosen), chosen).double().eval()
    columns = len(table.columns)
    changes = [1.0] * columns
    changes[table.target] = 0.0
    own, other = influence_bound(model, 5, changes)
    generator = torch.Generator().manual_seed(1)
    scale = torch.randn(1, 5, columns, generator=generator, dtype=torch.double)
    mask = torch.zeros_like(scale)
    mask[..., table.target] = 1
    x = ModelInput(torch.zeros(1, 5, columns, dtype=torch.long), scale, mask)
    moved = scale.clone()
    moved[0, 2] += torch.rand(columns, generator=generator, dtype=torch.double)
    after = model.predict_target(ModelInput(x.codes, moved, mask))[0]
    change = (after - model.predict_target(x)[0]).abs().amax(1)
    assert 0 < change[2] <= own
    assert 0 < change[0] <= other
