"""Attention kernels of NPT against their equations: dot products, distances and spans."""

import math
from typing import Any

import pytest
import torch

from npt.errors import UserError
from npt.nn.block import Block, TiedBlock
from npt.nn.column_layout import ColumnLayout
from npt.nn.distances import squared_distances
from npt.nn.inputs import ModelInput
from npt.nn.kernels import attention
from npt.nn.kernels.attention import by_head, dot_product
from npt.nn.kernels.dropout import Dropout
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.nn.span import Span, feature_columns, locate

KERNELS = ["dot", "l2", "l2_tied", "l2_contractive", "span"]
FORMS: list[dict[str, Any]] = [
    *[{"kernel": kernel} for kernel in KERNELS],
    {"kernel": "span", "span_threshold": 0.5},
    {"kernel": "span", "span_form": "multiplied"},
]
SETTINGS = NPTSettings(width=8, layers=4, heads=4, attention_dropout=0, hidden_dropout=0)
LAYOUT = ColumnLayout((1, 3, 1, 1), (True, False, True, True), 3)


def network(**changes: Any) -> NPT:
    torch.manual_seed(1)
    return NPT(LAYOUT, SETTINGS.changed(**changes)).double().eval()


def cells(n: int, batch: int = 1) -> ModelInput:
    generator = torch.Generator().manual_seed(0)
    shape = (batch, n, 4)
    continuous = torch.tensor(LAYOUT.continuous)
    codes = torch.randint(3, shape, generator=generator) * ~continuous
    numbers = torch.randn(shape, generator=generator, dtype=torch.double)
    scale = torch.where(continuous, numbers, torch.ones_like(numbers))
    hidden = torch.rand(shape, generator=generator) < 0.2
    return ModelInput(codes, scale, torch.zeros_like(scale)).hide(hidden)


def tied_block(width: int = 8, **changes: Any) -> TiedBlock:
    torch.manual_seed(2)
    changes = {"kernel": "l2_tied", **changes}
    return TiedBlock(width, SETTINGS.changed(**changes)).double().eval()


def test_distance_scores_equal_their_equation() -> None:
    torch.manual_seed(0)
    block = Block(8, SETTINGS.changed(kernel="l2")).double().eval()
    x = torch.randn(1, 6, 8, dtype=torch.double)
    queries, keys, values, _ = block.project(x)
    expected = []
    for head in range(4):
        part = slice(2 * head, 2 * head + 2)
        squares = torch.cdist(queries[0, :, part], keys[0, :, part]).square()
        weights = (-squares / 8**0.5).softmax(-1)
        expected.append(weights @ values[0, :, part])
    attended = block.attend(queries, keys, values)
    assert torch.allclose(attended[0], torch.cat(expected, -1), atol=1e-12)


def test_tied_attention_equals_its_equation() -> None:
    block = tied_block(layer_norm="none")
    torch.nn.init.normal_(block.value.bias)
    x = torch.randn(5, 8, dtype=torch.double)
    expected = []
    for head in range(4):
        part = slice(2 * head, 2 * head + 2)
        query = block.query.weight[part].T  # (M, c), W^Q of the head
        value = block.value.weight[part].T
        tied = query @ query.T / 8**0.5
        squares = torch.cdist(x @ query, x @ query).square()
        weights = (-squares / 8**0.5).softmax(-1)
        expected.append(weights @ x @ tied @ value + block.value.bias[part])
    queries, keys, values, _ = block.project(x[None])
    attended = block.attend(queries, keys, values)
    assert torch.allclose(attended[0], torch.cat(expected, -1), atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("between", [True, False])
def test_rows_may_come_in_any_order(kernel: str, between: bool) -> None:
    model = network(kernel=kernel, between_attributes=between)
    x = cells(4)  # as many rows as columns
    order = torch.randperm(4, generator=torch.Generator().manual_seed(3))
    permuted = x.map(lambda tensor: tensor[:, order])
    assert torch.allclose(model(permuted), model(x)[:, order], atol=1e-12)


@pytest.mark.parametrize("changes", [form for form in FORMS if form["kernel"] != "l2_contractive"])
def test_rows_after_the_context_are_not_attended_to(changes: dict[str, Any]) -> None:
    model = network(**changes)
    x = cells(9)
    first = x.map(lambda tensor: tensor[:, :6])
    rows = torch.arange(6)[None]
    assert torch.allclose(model(x, rows, 6), model(first), atol=1e-12)


@pytest.mark.parametrize("changes", FORMS)
@pytest.mark.parametrize("rows", [9, 60])
def test_products_in_bfloat16_are_near(changes: dict[str, Any], rows: int) -> None:
    model = network(attention_dropout=1e-9, **changes).float()
    x = cells(rows)
    single = ModelInput(x.codes, x.scale.float(), x.mask.float())
    expected = model(single)
    for mode in (model.eval(), model.train()):
        with torch.autocast("cpu", torch.bfloat16):
            rounded = mode(single)
        assert torch.allclose(rounded.float(), expected, atol=0.1)
        rounded.float().square().sum().backward()


@pytest.mark.parametrize("kernel", KERNELS)
def test_attention_weights_are_those_that_are_used(kernel: str) -> None:
    model = network(kernel=kernel, layers=2)
    x = cells(6)
    rows = torch.arange(6).flip(0)[None]
    weights = model.attention_weights(x, rows)[0].flip(2)  # (1, k, 6, 6)
    assert torch.allclose(weights.sum(-1), torch.ones_like(weights.sum(-1)), atol=1e-6)
    block = model.blocks[0]
    assert isinstance(block, Block)
    context = model.embed(x).flatten(2)
    _, _, values, residual = block.project(context)
    attended = weights.double() @ by_head(values, block.heads)
    mixed = block.mix(attended.transpose(1, 2).flatten(2))
    hidden = residual + mixed
    narrow = block.narrow(torch.nn.functional.gelu(block.widen(block.norm_feed_forward(hidden))))
    expected = (hidden + narrow).unflatten(2, (4, 8))
    model.blocks = model.blocks[:1]
    assert torch.allclose(model(x), expected, atol=1e-6)


def test_attention_weights_are_of_the_tokens_that_reach_a_block() -> None:
    model = network()
    x = cells(6)
    rows = torch.arange(6)[None]
    weights = model.attention_weights(x, rows)
    *first, third, _ = model.blocks
    model.blocks = torch.nn.ModuleList(first)
    assert isinstance(third, Block)
    expected = third.probabilities(model(x).flatten(2), rows, None)
    assert torch.allclose(weights[2], expected)


@pytest.mark.parametrize(("norm", "shifted"), [("centre", True), ("none", False)])
def test_norm_without_division(norm: str, shifted: bool) -> None:
    block = tied_block(layer_norm=norm)
    x = torch.randn(1, 5, 8, dtype=torch.double)
    queries = block.project(x)[0]
    assert torch.allclose(block.project(2 * x)[0], 2 * queries)
    moved = x + torch.arange(5)[:, None]  # each row by its own number
    assert torch.allclose(block.project(moved)[0], queries) == shifted


def test_equal_rows_have_no_distance_in_bfloat16() -> None:
    rows = torch.randn(50, 13)
    with torch.autocast("cpu", torch.bfloat16):
        distances = squared_distances(rows, rows)
    assert distances.diagonal().max() < 1e-4


def test_residuals_may_start_as_the_identity() -> None:
    block = Block(8, SETTINGS.changed(residual_start="identity"))
    assert torch.equal(block.residual.weight, torch.eye(8))
    assert not block.residual.bias.any()
    torch.manual_seed(1)
    random = Block(8, SETTINGS)
    torch.manual_seed(1)
    started = Block(8, SETTINGS.changed(residual_start="identity"))
    assert torch.equal(started.mix.weight, random.mix.weight)


def span_of(**changes: Any) -> Span:
    return Span(LAYOUT, SETTINGS.changed(kernel="span", **changes)).double()


@pytest.mark.parametrize("threshold", [None, 0.02])
@pytest.mark.parametrize("form", ["added", "multiplied"])
def test_attention_with_a_span_equals_its_equation(threshold: float | None, form: str) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 4, 20, 20, generator=generator, dtype=torch.double)
    located = torch.randn(2, 20, 5, generator=generator, dtype=torch.double)
    span = span_of(span_threshold=threshold, span_form=form)
    scaled = located / span.sigma[span.column_of]
    gaussian = torch.exp(-torch.cdist(scaled, scaled).square() / 2)[:, None]
    expected = scores + gaussian.log() if form == "added" else scores * gaussian
    assert 0 < (gaussian < 0.02).float().mean() < 1
    if threshold is not None:
        expected = expected.masked_fill(gaussian < threshold, -torch.inf)
    weighed = span(scores, located)
    assert torch.allclose(weighed.softmax(-1), expected.softmax(-1), atol=1e-10)


def test_a_query_without_near_rows_attends_to_the_nearest() -> None:
    located = torch.randn(1, 20, 5, generator=torch.Generator().manual_seed(0)).double()
    located[:, 19] += 1000
    scores = torch.zeros(1, 1, 1, 19)
    weighed = span_of(span_threshold=0.9)(scores, located, torch.tensor([[19]]))
    nearest = torch.cdist(located[:, 19:], located[:, :19]).argmin()
    assert weighed.isfinite().flatten().nonzero().tolist() == [[nearest]]


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
    spans = []
    for index in (0, 2):
        block = model.blocks[index]
        assert isinstance(block, Block) and block.span is not None
        spans.append(block.span)
        assert torch.allclose(block.span.sigma, torch.full((3,), 2 * math.sqrt(3)).double())
    model.predict_target(cells(20)).square().sum().backward()
    gradient = spans[0].log_sigma.grad
    assert gradient is not None
    assert len(gradient.unique()) == 3


def test_a_target_alone_has_no_span() -> None:
    with pytest.raises(UserError, match="with a feature"):
        feature_columns(LAYOUT.only_target())


LENGTHS = [
    pytest.param((20, 3, 2, 4), id="very short"),
    pytest.param((2, 3, 7, 4), id="short"),
    pytest.param((1, 2, 300, 4), id="long"),
]


def random_inputs(shape: tuple[int, ...], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors = torch.randn(3, *shape, dtype=torch.double, generator=generator)
    return [tensor.requires_grad_() for tensor in tensors.unbind()]


def dropout_masks(dropout: Dropout, shape: tuple[int, ...]) -> torch.Tensor:
    """The mask of every probability, put together from the blocks in which it is drawn."""
    padded = shape[2] + (-shape[2] % attention.LANES if shape[2] <= attention.SHORT else 0)
    flat = torch.empty(shape[0] * shape[1], shape[2], padded, dtype=torch.double)
    for part, (items, rows) in enumerate(attention._blocks(*flat.shape)):
        block = flat[items, rows]
        block.copy_(dropout.kept(block.shape, part))
    return flat.view(*shape[:3], padded)[..., : shape[2]]


@pytest.mark.parametrize("shape", LENGTHS)
@pytest.mark.parametrize("kept_scores", [0, 2**24])
@pytest.mark.parametrize("block", [2**20, 500])
def test_values_and_gradients_equal_the_plain_form(
    shape: tuple[int, ...], kept_scores: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "BLOCK_SCORES", block)
    monkeypatch.setattr(attention, "KEPT_SCORES", kept_scores)
    source = Dropout(0.25, site=3)
    for dropped in (None, source):
        source.key = 5
        ours, plain = random_inputs(shape), random_inputs(shape)
        outputs = dot_product(*ours, scale=0.3, dropout=dropped)
        probabilities = (plain[0] @ plain[1].transpose(-1, -2) * 0.3).softmax(-1)
        if dropped:
            probabilities = probabilities * dropout_masks(dropped, shape) / source.keep_probability
        expected = probabilities @ plain[2]
        assert torch.allclose(outputs, expected, atol=1e-12)
        upstream, *_ = random_inputs(shape, seed=9)
        source.key = 6  # a mask that is drawn again is that of the forward pass
        outputs.backward(upstream)
        expected.backward(upstream)
        for a, b in zip(ours, plain, strict=True):
            assert a.grad is not None
            assert torch.allclose(a.grad, b.grad, atol=1e-11)


def test_masks_keep_the_rate_and_depend_on_key_site_and_part() -> None:
    source = Dropout(0.1, site=2)
    shape = (400, 1000)
    mask = source.kept(shape)
    assert abs(mask.double().mean().item() - 0.9) < 4 * (0.09 / mask.numel()) ** 0.5
    assert torch.equal(mask, source.kept(shape))
    other_site = Dropout(0.1, site=3).kept(shape)
    for other in (other_site, source.kept(shape, part=1), source.kept(shape, key=2)):
        agreement = (mask == other).double().mean().item()
        assert abs(agreement - (0.81 + 0.01)) < 4 * (0.25 / mask.numel()) ** 0.5


@pytest.mark.parametrize(("dtype", "resolution"), [(torch.float32, 0), (torch.bfloat16, 0.002)])
def test_dropout_is_unbiased_and_absent_at_test(dtype: torch.dtype, resolution: float) -> None:
    drop = Dropout(0.1)
    x = torch.ones(1000, 300, dtype=dtype)
    dropped = drop(x)
    assert abs(dropped.double().mean() - 1) < 4 * (0.1 / 0.9 / x.numel()) ** 0.5 + resolution
    assert torch.equal(drop.eval()(x), x)


def test_the_gpu_form_is_the_same_attention() -> None:
    """Run on the CPU: padding of odd head widths, and the plain form of many short sequences."""
    for shape in ((5, 2, 9, 3), (1, 2, 300, 31)):
        q, k, v = random_inputs(shape)
        expected = (q @ k.transpose(-1, -2) * 0.3).softmax(-1) @ v
        assert torch.allclose(attention._on_gpu(q, k, v, 0.3, 0.0), expected, atol=1e-12)
