"""The plain implementation is an oracle: same weights, same outputs, losses and updates."""

from dataclasses import replace

import pytest
import torch

from npt.data.datasets import datasets
from npt.nn.losses import training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import Lamb, Lookahead
from npt.nn.reference import PlainNPT, plain_loss
from npt.nn.settings import NPTSettings
from npt.nn.training import build_optimiser
from performance.shapes import SHAPES, Shape, generated, layout_of

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


@torch.no_grad()
def plain_from(model: NPT, shape: Shape) -> PlainNPT:
    """The fused weights in one layer per column and projection."""
    plain = PlainNPT(shape.layout, shape.settings).double()
    for column, size in enumerate(model.layout.sizes):
        start = int(model.embedding.starts[column])
        first = model.layout.starts[column]
        embedding = plain.inputs[column]
        head = plain.outputs[column]
        embedding.weight.copy_(model.embedding.weight[start : start + size + 1].T)
        embedding.bias.copy_(model.embedding.bias[column])
        head.weight.copy_(model.head.weight[first : first + size])
        head.bias.copy_(model.head.bias[first : first + size])
    plain.column_index.load_state_dict(model.column_index.state_dict())
    if model.column_type is not None:
        plain.column_type.load_state_dict(model.column_type.state_dict())
    plain.blocks.load_state_dict(model.blocks.state_dict())
    return plain


@pytest.mark.parametrize("target_size", [6, 1])
def test_outputs_losses_and_updates_are_the_same(target_size: int) -> None:
    shape = Shape("small", 40, layout_of([3, 1, 1, 20, 2, 1, target_size]), SETTINGS)
    settings = shape.settings
    torch.manual_seed(0)
    model = NPT(shape.layout, settings).double()
    plain = plain_from(model, shape)
    data = generated(shape, CPU)
    data = replace(data, numbers=data.numbers.double())
    optimiser = build_optimiser(model, settings)
    lamb = Lamb(plain.parameters(), clip=settings.clip)
    plain_optimiser = Lookahead(lamb, settings.lookahead_steps, settings.lookahead_share)
    target = data.target
    for number, weight in enumerate((1.0, 0.3, 0.0, 0.5), start=1):
        masked = mask(data, "train", settings, torch.Generator().manual_seed(number))
        tokens = model(masked.cells)[0]
        outputs = plain(masked.cells)
        assert torch.allclose(model.head.target(tokens[:, target]), outputs[target], atol=1e-9)
        loss = training_loss(model.head, tokens, data, masked, weight)
        expected = plain_loss(outputs, data, masked, weight)
        assert loss.item() == pytest.approx(expected.item(), rel=1e-9)
        model.zero_grad()
        plain.zero_grad()
        loss.backward()
        expected.backward()
        for lookahead in (optimiser, plain_optimiser):
            lookahead.optimiser.step(0.01)
            lookahead.moved(number)
    trained = plain_from(model, shape)
    for (name, ours), theirs in zip(trained.named_parameters(), plain.parameters(), strict=True):
        # A softmax is invariant to the bias of the keys: its gradient is rounding noise, of which
        # LAMB makes a full step.
        assert name.endswith("key.bias") or torch.allclose(ours, theirs, atol=1e-8), name


def test_the_shapes_have_the_declared_columns() -> None:
    for name, shape in SHAPES.items():
        dataset = datasets()[name]
        assert len(shape["sizes"]) == dataset.columns
        assert sum(size > 1 for size in shape["sizes"]) == len(dataset.categorical)
