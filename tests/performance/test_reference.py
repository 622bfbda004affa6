"""The plain implementation is an oracle: with the same weights it gives the same outputs, losses and updates."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.nn import flops
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.losses import label_loss, training_loss
from npt.nn.masking import Masked, mask
from npt.nn.model import NPT, Block
from npt.nn.settings import NPTSettings
from npt.nn.training import build_optimiser
from performance.reference import PlainLamb, PlainNPT, column_loss, loss_of, masked
from performance.shapes import TABLES, Shape, generated, shape

CPU = torch.device("cpu")
SETTINGS = NPTSettings(
    width=8,
    layers=4,
    heads=4,
    hidden_dropout=0,
    attention_dropout=0,
    lookahead_steps=2,
    target_mask=0.5,
)
SIZES = (3, 1, 1, 20, 2, 1, 6)


def small(target_size: int = 6) -> Shape:
    sizes = (*SIZES[:-1], target_size)
    return Shape(
        "small",
        40,
        ColumnLayout(sizes, tuple(size == 1 for size in sizes), len(sizes) - 1),
        SETTINGS,
    )


def with_weights_of(model: NPT, plain: PlainNPT) -> PlainNPT:
    """Copy the fused weights into one layer per column and projection."""
    with torch.no_grad():
        for j, size in enumerate(model.layout.sizes):
            start, first = int(model.embedding.starts[j]), model.layout.starts[j]
            plain.inputs[j].weight.copy_(model.embedding.weight[start : start + size + 1].T)
            plain.inputs[j].bias.copy_(model.embedding.bias[j])
            plain.outputs[j].weight.copy_(model.head.weight[first : first + size])
            plain.outputs[j].bias.copy_(model.head.bias[first : first + size])
        plain.column_index.load_state_dict(model.column_index.state_dict())
        if model.column_type is not None:
            plain.column_kind.load_state_dict(model.column_type.state_dict())
        for block, other in zip(model.blocks, plain.blocks, strict=True):
            for name, layer in other.named_children():
                layer.load_state_dict(getattr(block, name).state_dict())
    return plain


def both(one: Shape) -> tuple[NPT, PlainNPT]:
    torch.manual_seed(0)
    model = NPT(one.layout, one.settings).double()
    plain = PlainNPT(one.layout.sizes, one.layout.continuous, one.settings).double()
    return model, with_weights_of(model, plain)


def as_cells(inputs: list[torch.Tensor], continuous: tuple[bool, ...]) -> ModelInput:
    """The plain inputs (n, C_j + 1) as codes, scales and masks."""
    codes = [
        torch.zeros(len(x)).long() if c else x[:, :-1].argmax(1)
        for x, c in zip(inputs, continuous, strict=True)
    ]
    scale = [x[:, 0] if c else x[:, :-1].sum(1) for x, c in zip(inputs, continuous, strict=True)]
    return ModelInput(
        torch.stack(codes, 1)[None],
        torch.stack(scale, 1)[None],
        torch.stack([x[:, -1] for x in inputs], 1)[None],
    )


@pytest.mark.parametrize("target_size", [6, 1])
def test_outputs_losses_and_updates_are_the_same(target_size: int) -> None:
    one = small(target_size)
    model, plain = both(one)
    data, table = generated(one, CPU)
    data = replace(data, numbers=data.numbers.double())
    table = replace(table, values=[v.double() for v in table.values])
    optimiser, other = build_optimiser(model, one.settings), PlainLamb(plain, one.settings)
    for weight in (1.0, 0.3, 0.0, 0.5):
        inputs, selected, own = masked(table, 0, one.settings)
        features = torch.stack(selected, 1)
        cells = as_cells(inputs, one.layout.continuous)
        tokens, outputs = model(cells)[0], plain(inputs)
        target = one.layout.target
        assert torch.allclose(model.head.target(tokens[:, target]), outputs[target], atol=1e-9)
        ours = training_loss(model.head, tokens, data, Masked(cells, features, own), weight)
        theirs = loss_of(outputs, table, selected, own, weight)
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-9)
        for network, loss in ((model, ours), (plain, theirs)):
            network.zero_grad()
            loss.backward()
        optimiser.step(0.01)
        other.step(0.01)
    fused = with_weights_of(
        model, PlainNPT(one.layout.sizes, one.layout.continuous, one.settings).double()
    )
    for (name, a), b in zip(fused.named_parameters(), plain.parameters(), strict=True):
        # A softmax does not see the bias of the keys, so that its gradient is rounding noise, which LAMB makes a full step of.
        assert name.endswith("key.bias") or torch.allclose(a, b, atol=1e-8), name


@pytest.mark.parametrize("mode", ["validation", "test"])
def test_evaluation_sees_and_scores_the_same(mode: str) -> None:
    one = small()
    model, plain = both(one)
    data, table = generated(one, CPU)
    table = replace(table, values=[v.double() for v in table.values])
    number = ("train", "validation", "test").index(mode)
    inputs, _, own = masked(table, number, one.settings)
    seen = mask(data, mode, one.settings, torch.Generator())  # type: ignore[arg-type]
    assert torch.equal(seen.labels, own)
    cells = as_cells(inputs, one.layout.continuous)
    assert torch.equal(seen.cells.mask[0].double(), cells.mask[0])
    assert torch.allclose(seen.cells.scale[0].double(), cells.scale[0])
    target = one.layout.target
    expected = column_loss(
        plain.eval()(inputs)[target], table.values[target], own, continuous=False
    )
    tokens = model.eval()(seen.cells)[0, :, target]
    assert label_loss(model.head, tokens, data, seen.labels).item() == pytest.approx(
        expected.item(), rel=1e-6
    )


@pytest.mark.parametrize(("n", "s", "width"), [(1, 48, 32), (1, 208, 16), (30, 16, 8)])
def test_a_block_costs_what_the_formula_says(n: int, s: int, width: int) -> None:
    block = Block(width, NPTSettings(width=width, heads=4)).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        block(torch.randn(n, s, width))
    formula = (
        flops.between_datapoints(s, 1, width) if n == 1 else flops.between_attributes(n, s, width)
    )
    assert counter.get_total_flops() == formula


@pytest.mark.parametrize(
    ("name", "teraflop"),
    [("yacht", 0.092), ("boston_housing", 0.566), ("breast_cancer", 0.197), ("concrete", 0.533), ("poker_hand", 1.259),
     ("kick", 7.588), ("income", 5.279), ("forest_cover", 7.649), ("higgs", 6.059)],
)  # fmt: skip
def test_an_update_of_the_paper_s_configurations(name: str, teraflop: float) -> None:
    one = shape(name)
    assert flops.update(one.rows, len(one.layout.sizes), one.settings) / 1e12 == pytest.approx(
        teraflop, abs=0.0006
    )


def test_the_shapes_have_the_declared_columns() -> None:
    from npt.data.datasets import datasets

    for name, (_, sizes) in TABLES.items():
        assert len(sizes) == datasets()[name].columns
        assert sum(size > 1 for size in sizes) == len(datasets()[name].categorical)
