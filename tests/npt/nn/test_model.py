from __future__ import annotations

from typing import Any

import pytest
import torch

from npt.nn.block import Block
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.kernels.dropout import Dropout
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from performance.shapes import SHAPES

SETTINGS = NPTSettings(width=8, layers=4, heads=4)


def layout(d: int = 4) -> ColumnLayout:
    return ColumnLayout((1, 3, 1, 2, 1, 4)[:d], (True, False, True, False, True, False)[:d], d - 1)


def cells(n: int, form: ColumnLayout, seed: int = 0, batch: int = 1) -> ModelInput:
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, n, len(form.sizes))
    codes = (torch.rand(shape, generator=generator) * torch.tensor(form.sizes)).long()
    continuous = torch.tensor(form.continuous)
    scale = torch.where(continuous, torch.randn(shape, generator=generator), torch.ones(shape))
    hidden = torch.rand(shape, generator=generator) < 0.2
    plain = ModelInput(
        torch.where(continuous, 0, codes), scale.double(), torch.zeros(shape, dtype=torch.double)
    )
    return plain.hide(hidden)


def model(form: ColumnLayout, settings: NPTSettings = SETTINGS) -> NPT:
    torch.manual_seed(1)
    return NPT(form, settings).double().eval()


def permuted(x: ModelInput, order: torch.Tensor) -> ModelInput:
    return ModelInput(x.codes[:, order], x.scale[:, order], x.mask[:, order])


def test_columns_are_not_exchangeable() -> None:
    form = ColumnLayout((1, 1, 1), (True, True, True), 2)
    network, x = model(form), cells(6, form)
    order = torch.tensor([1, 0, 2])
    swapped = ModelInput(x.codes[..., order], x.scale[..., order], x.mask[..., order])
    assert not torch.allclose(network(swapped)[..., order, :], network(x), atol=1e-3)


def test_layer_norm_on_all_spares_the_residual() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 16, dtype=torch.double)
    block = Block(16, SETTINGS.changed(layer_norm_on="all")).double()
    *normed, residual = block.project(x)
    *normed_of_three, residual_of_three = block.project(3 * x)
    for once, three_times in zip(normed, normed_of_three, strict=True):
        assert torch.allclose(once, three_times, atol=1e-10)
    bias = block.residual.bias
    assert torch.allclose(residual_of_three - bias, 3 * (residual - bias))


@pytest.mark.parametrize(
    ("sizes", "width", "total"),
    [
        pytest.param([1] * 30 + [2], 32, 51_287_040, id="breast_cancer"),
        pytest.param([1] * 12 + [2, 9], 128, 167_956_759, id="boston_housing"),
        pytest.param([1] * 9, 128, 69_938_825, id="concrete"),
        pytest.param([5, 10, 8, 17, 10, 14, 1], 128, 42_675_393, id="yacht"),
        pytest.param(
            [5, 10, 8, 17, 10, 1, 1], 128, 42_672_052, id="yacht with a continuous Froude number"
        ),
        pytest.param([1] * 10, 128, 86_134_026, id="protein"),
        pytest.param([4] * 5 + [1] * 5 + [10], 64, 26_034_787, id="poker_hand"),
        pytest.param([1] * 10 + [2] * 44 + [7], 64, 644_738_729, id="forest_cover"),
        pytest.param([1] * 28 + [2], 64, 179_456_350, id="higgs"),
        pytest.param(SHAPES["kick"]["sizes"], 64, 232_602_812, id="kick"),
        pytest.param(SHAPES["income"]["sizes"], 64, 376_166_843, id="income"),
    ],
)
def test_parameters_of_the_paper_s_models(sizes: list[int], width: int, total: int) -> None:
    form = ColumnLayout(tuple(sizes), tuple(size == 1 for size in sizes), len(sizes) - 1)
    with torch.device("meta"):
        network = NPT(form, NPTSettings(width=width))
    assert sum(p.numel() for p in network.parameters()) == total


def test_a_row_alone_without_attention_between_datapoints() -> None:
    network = model(layout(), SETTINGS.changed(between_datapoints=False))
    x = cells(6, layout())
    alone = ModelInput(x.codes[:, :1], x.scale[:, :1], x.mask[:, :1])
    assert torch.allclose(network(x)[:, :1], network(alone), atol=1e-12)
    assert network.over_rows == [False, False]
    with_rows = model(layout())
    assert not torch.allclose(with_rows(x)[:, :1], with_rows(alone), atol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [{}, {"kernel": "l2_tied"}, {"kernel": "l2_contractive"}, {"between_attributes": False}],
)
def test_rows_that_attend_to_themselves_are_as_if_alone(changes: dict[str, Any]) -> None:
    settings = SETTINGS.changed(**changes)
    to_all = model(layout(), settings)
    to_itself = model(layout(), settings.changed(attends_to="self"))
    assert to_itself.over_rows == to_all.over_rows
    to_itself.load_state_dict(to_all.state_dict())
    x = cells(6, layout())
    every = to_itself(x)
    for i in range(6):
        row = torch.tensor([i])
        alone = to_all(permuted(x, row))
        assert torch.allclose(every[:, row], alone, atol=1e-12)
    assert not torch.allclose(to_all(x), every, atol=1e-4)
    assert to_itself.attention_weights(x, torch.tensor([[0, 3]])) == {}


def test_tables_side_by_side_do_not_touch() -> None:
    network = model(layout())
    both = cells(5, layout(), batch=2)
    apart = [
        ModelInput(both.codes[b : b + 1], both.scale[b : b + 1], both.mask[b : b + 1])
        for b in range(2)
    ]
    assert torch.allclose(network(both), torch.cat([network(x) for x in apart]), atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layer_norm_on": "all"},
        {"between_attributes": False},
        {"between_datapoints": False},
        {"attends_to": "self"},
    ],
)
def test_query_rows_alone_equal_those_among_all(changes: dict) -> None:
    network, x = model(layout(), SETTINGS.changed(**changes)), cells(7, layout(), batch=2)
    rows = torch.tensor([[5, 0, 3], [1, 1, 6]])
    every = network(x)
    queried = network(x, rows)
    for b in range(2):
        assert torch.allclose(queried[b], every[b, rows[b]], atol=1e-12)
    assert torch.allclose(
        network.predict_target(x, rows)[1, 2], network.predict_target(x)[1, 6], atol=1e-12
    )


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(Exception, match="width"):
        NPTSettings(width=10, heads=4)


def reaches(tensor: torch.Tensor, bound: float) -> bool:
    """Whether the largest absolute value is the bound, nearly."""
    return 0.9 * bound < tensor.abs().max().item() <= bound


def test_initial_weights_are_those_of_torch() -> None:
    """Embeddings are N(0, 1); a linear layer is uniform up to 1 / sqrt(inputs)."""
    form = ColumnLayout((1, 3) * 10, (True, False) * 10, 19)
    torch.manual_seed(0)
    network = NPT(form, NPTSettings(width=64, layers=2))
    assert network.column_type is not None
    for table in (network.column_index, network.column_type):
        assert table.weight.std().item() == pytest.approx(1, abs=0.15)
    columns = network.embedding.weight.split([size + 1 for size in form.sizes])
    for weight, bias in zip(columns, network.embedding.bias, strict=True):
        assert reaches(weight, len(weight) ** -0.5)
        assert reaches(bias, len(weight) ** -0.5)
    assert reaches(network.head.weight, 64**-0.5)
    assert reaches(network.head.bias, 64**-0.5)
    linear = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)]
    assert len(linear) == 7 * len(network.blocks)
    for layer in linear:
        assert reaches(layer.weight, layer.in_features**-0.5)
        assert reaches(layer.bias, layer.in_features**-0.5)
    block = network.blocks[0]
    assert not torch.equal(block.key.weight, block.value.weight)


WITHOUT_DROPOUT = SETTINGS.changed(hidden_dropout=0, attention_dropout=0)
OF_A_BLOCK = ("drop_attention", "drop_mixed", "drop_widened", "drop_narrowed")
DROPOUTS = ["drop_embedded", "drop_last"]
DROPOUTS += [f"blocks.{index}.{dropout}" for index in (0, 1) for dropout in OF_A_BLOCK]


@pytest.mark.parametrize("name", DROPOUTS)
def test_each_dropout_alone_changes_the_training(name: str) -> None:
    network, x = model(layout(), WITHOUT_DROPOUT), cells(6, layout())
    owner, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(owner), attribute, Dropout(0.5))
    evaluated = network.eval()(x)
    trained = network.train()(x)
    assert not torch.allclose(trained, evaluated, atol=1e-4)
    assert torch.equal(network.eval()(x), evaluated)


def test_every_dropout_has_its_rate_and_its_own_masks() -> None:
    network = model(layout(), SETTINGS.changed(hidden_dropout=0.2, attention_dropout=0.3))
    network.set_dropout_key(7)
    layers = [layer for layer in network.modules() if isinstance(layer, Dropout)]
    attention = [block.drop_attention for block in network.blocks]
    assert {layer.rate for layer in attention} == {0.3}
    assert {layer.rate for layer in layers if layer not in attention} == {0.2}
    assert {layer.key for layer in layers} == {7}
    assert len({layer.site for layer in layers}) == 2 + 4 * len(network.blocks)


def test_no_gradient_reaches_what_a_hidden_cell_held() -> None:
    network, x = model(layout()), cells(6, layout())
    held = x.scale.clone().requires_grad_()
    hidden = torch.rand(x.scale.shape, generator=torch.Generator().manual_seed(5)) < 0.5
    network(ModelInput(x.codes, held, x.mask).hide(hidden)).sum().backward()
    assert held.grad is not None
    assert (held.grad[hidden] == 0).all()
    assert (held.grad[~hidden & (x.mask == 0)] != 0).any()
