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


@pytest.mark.parametrize("n", [1, 4, 9])
def test_rows_may_come_in_any_order_even_if_n_equals_d(n: int) -> None:
    network, x = model(layout()), cells(n, layout())
    order = torch.randperm(n, generator=torch.Generator().manual_seed(3))
    assert torch.allclose(network(permuted(x, order)), network(x)[:, order], atol=1e-12)


def test_columns_are_not_exchangeable() -> None:
    form = ColumnLayout((1, 1, 1), (True, True, True), 2)
    network, x = model(form), cells(6, form)
    order = torch.tensor([1, 0, 2])
    swapped = ModelInput(x.codes[..., order], x.scale[..., order], x.mask[..., order])
    assert not torch.allclose(network(swapped)[..., order, :], network(x), atol=1e-3)


def reference_block(block: Block, x: torch.Tensor, width_under_root: float) -> torch.Tensor:
    """The equations one row, one head at a time."""

    def linear(layer: torch.nn.Linear, v: torch.Tensor) -> torch.Tensor:
        return torch.stack(
            [(layer.weight[i] * v).sum() + layer.bias[i] for i in range(len(layer.bias))]
        )

    def norm(layer: torch.nn.LayerNorm, v: torch.Tensor) -> torch.Tensor:
        centred = v - v.mean()
        return centred / torch.sqrt((centred**2).mean() + 1e-12) * layer.weight + layer.bias

    rows, size = len(x), x.shape[1] // block.heads
    queries = [linear(block.query, norm(block.norm_attention, v)) for v in x]
    keys = [linear(block.key, v) for v in x]
    values = [linear(block.value, v) for v in x]
    residuals = [linear(block.residual, v) for v in x]
    out = []
    for i in range(rows):
        heads = []
        for h in range(block.heads):
            part = slice(h * size, (h + 1) * size)
            scores = (
                torch.stack([(queries[i][part] * keys[j][part]).sum() for j in range(rows)])
                / width_under_root**0.5
            )
            weights = torch.exp(scores - scores.max())
            weights = weights / weights.sum()
            heads.append(sum(weights[j] * values[j][part] for j in range(rows)))
        hidden = residuals[i] + linear(block.mix, torch.cat(heads))
        wide = linear(block.widen, norm(block.norm_feed_forward, hidden))
        wide = 0.5 * wide * (1 + torch.erf(wide / 2**0.5))
        out.append(hidden + linear(block.narrow, wide))
    return torch.stack(out)


def test_a_block_equals_its_equations_with_full_width_scale() -> None:
    torch.manual_seed(0)
    block, x = Block(16, SETTINGS).double().eval(), torch.randn(5, 16, dtype=torch.double)
    ours = block(x[None])[0]
    assert torch.allclose(ours, reference_block(block, x, 16), atol=1e-12)
    assert not torch.allclose(ours, reference_block(block, x, 16 / block.heads), atol=1e-4)


def test_layer_norm_is_on_the_query_path_only() -> None:
    torch.manual_seed(0)
    block, x = Block(16, SETTINGS).double(), torch.randn(1, 16, dtype=torch.double)
    query, *raw = block.project(x)
    query_of_three, *raw_of_three = block.project(3 * x)
    assert torch.allclose(query_of_three, query, atol=1e-10)
    layers = (block.key, block.value, block.residual)
    for layer, once, three_times in zip(layers, raw, raw_of_three, strict=True):
        assert torch.allclose(three_times - layer.bias, 3 * (once - layer.bias))


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


def test_without_mix_and_feed_forward_a_block_is_its_residual() -> None:
    block, x = Block(8, SETTINGS).double().eval(), torch.randn(1, 5, 8, dtype=torch.double)
    for layer in (block.mix, block.narrow):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    assert torch.equal(block(x), block.project(x)[3])


@pytest.mark.parametrize("width", [4, 16, 60])
def test_parameters_of_a_block(width: int) -> None:
    assert sum(p.numel() for p in Block(width, SETTINGS).parameters()) == 13 * width**2 + 14 * width


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


def test_without_attributes_the_datapoint_blocks_remain() -> None:
    assert model(layout(), SETTINGS.changed(between_attributes=False)).over_rows == [True, True]


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


def test_embedding_and_head_equal_a_linear_layer_per_column() -> None:
    form = layout(6)
    network, x = model(form), cells(7, form)
    embedded = network.embedding(x)
    tokens = torch.randn(7, 8, dtype=torch.double)
    for j, size in enumerate(form.sizes):
        start = int(network.embedding.starts[j])
        rows = network.embedding.weight[start : start + size + 1]
        value = torch.zeros(7, size + 1, dtype=torch.double)
        value[torch.arange(7), x.codes[0, :, j]] = x.scale[0, :, j]
        value[:, -1] = x.mask[0, :, j]
        assert torch.allclose(
            embedded[0, :, j], value @ rows + network.embedding.bias[j], atol=1e-12
        )
        first = form.starts[j]
        plain = (
            tokens @ network.head.weight[first : first + size].T
            + network.head.bias[first : first + size]
        )
        everywhere = tokens[:, None].expand(-1, 6, -1)
        if j == form.target:
            assert torch.allclose(network.head.target(tokens), plain, atol=1e-12)
        elif form.continuous[j]:
            assert torch.allclose(network.head.numbers(everywhere)[:, j], plain[:, 0], atol=1e-12)
        else:
            columns, logits = next(both for both in network.head.logits(everywhere) if j in both[0])
            logits = logits[columns.tolist().index(j)]
            assert torch.allclose(logits[:, :size], plain, atol=1e-12)
            assert torch.isinf(logits[:, size:]).all()


def test_a_token_has_its_column_s_index_and_type() -> None:
    form = layout(6)
    network, x = model(form), cells(7, form)
    assert network.column_type is not None
    types = network.column_type(torch.tensor([1, 0, 1, 0, 1, 0]))  # continuous ones are 1
    expected = network.embedding(x) + network.column_index.weight + types
    assert torch.allclose(network.embed(x), expected, atol=1e-12)


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
