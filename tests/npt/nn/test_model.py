"""The network: numbers of weights and operations, query rows, dropout, hidden cells."""

from itertools import product
from typing import Any

import pytest
import torch

from npt.nn import flops
from npt.nn.block import Block
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import ModelInput
from npt.nn.kernels.dropout import Dropout
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings, PixelSettings
from npt.table import Image
from performance.shapes import layout_of, paper_shape
from tests.npt.nn.test_kernels import FORMS, SETTINGS, cells, network
from tests.npt.test_settings import ENCODED, LOOKUP


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


PAPER = {  # weights, and 10^12 operations of an update
    "yacht": (42_675_393, 0.092),
    "boston_housing": (167_956_759, 0.566),
    "breast_cancer": (51_287_040, 0.197),
    "concrete": (69_938_825, 0.533),
    "protein": (86_134_026, 1.363),
    "poker_hand": (26_034_787, 1.259),
    "higgs": (179_456_350, 6.059),
    "kick": (232_602_812, 7.588),
    "income": (376_166_843, 5.279),
    "forest_cover": (644_738_729, 7.649),
}


def weights_of(layout: ColumnLayout, settings: NPTSettings) -> int:
    with torch.device("meta"):
        network = NPT(layout, settings)
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", PAPER)
def test_weights_and_operations_of_the_paper_s_models(name: str) -> None:
    shape = paper_shape(name)
    weights, teraflop = PAPER[name]
    assert weights_of(shape.layout, shape.settings) == weights
    operations = flops.update(shape.rows, shape.layout.tokens, shape.settings)
    assert operations / 1e12 == pytest.approx(teraflop, abs=0.0006)


def test_weights_with_a_continuous_froude_number() -> None:
    assert weights_of(layout_of([5, 10, 8, 17, 10, 1, 1]), NPTSettings(width=128)) == 42_672_052


@pytest.mark.parametrize(
    "changes",
    [{}, {"kernel": "l2_tied"}, {"kernel": "l2_contractive"}, {"between_attributes": False}],
)
def test_rows_that_attend_to_themselves_are_as_if_alone(changes: dict[str, Any]) -> None:
    to_all = network(**changes)
    to_itself = network(**changes, attends_to="self")
    assert to_itself.over_rows == to_all.over_rows
    to_itself.load_state_dict(to_all.state_dict())
    x = cells(6)
    every = to_itself(x)
    for i in range(6):
        alone = to_all(x.map(lambda tensor, i=i: tensor[:, [i]]))
        assert torch.allclose(every[:, [i]], alone, atol=1e-12)
    assert not torch.allclose(to_all(x), every, atol=1e-4)
    assert to_itself.attention_weights(x, torch.tensor([[0, 3]])) == {}


def test_tables_side_by_side_do_not_touch() -> None:
    model = network()
    both = cells(5, batch=2)
    apart = [model(both.map(lambda tensor, b=b: tensor[[b]])) for b in range(2)]
    assert torch.allclose(model(both), torch.cat(apart), atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"layer_norm_on": "all"},
        {"between_attributes": False},
        {"between_datapoints": False},
        {"attends_to": "self"},
        *FORMS,
    ],
)
def test_query_rows_alone_equal_those_among_all(changes: dict[str, Any]) -> None:
    model = network(**changes)
    x = cells(7, batch=2)
    rows = torch.tensor([[5, 0, 3], [1, 1, 6]])
    every = model(x)
    queried = model(x, rows)
    for b in range(2):
        assert torch.allclose(queried[b], every[b, rows[b]], atol=1e-12)
    assert torch.allclose(
        model.predict_target(x, rows)[1, 2], model.predict_target(x)[1, 6], atol=1e-12
    )


DROPOUTS = ["drop_embedded", "drop_last"]
for block, kind in product((0, 1), ("attention", "mixed", "widened", "narrowed")):
    DROPOUTS.append(f"blocks.{block}.drop_{kind}")


@pytest.mark.parametrize("name", DROPOUTS)
def test_each_dropout_alone_changes_the_training(name: str) -> None:
    model = network()
    x = cells(6)
    owner, _, attribute = name.rpartition(".")
    setattr(model.get_submodule(owner), attribute, Dropout(0.5))
    evaluated = model.eval()(x)
    trained = model.train()(x)
    assert not torch.allclose(trained, evaluated, atol=1e-4)
    assert torch.equal(model.eval()(x), evaluated)


def test_every_dropout_has_its_rate_and_its_own_masks() -> None:
    model = network(hidden_dropout=0.2, attention_dropout=0.3)
    model.set_dropout_key(7)
    layers = [layer for layer in model.modules() if isinstance(layer, Dropout)]
    attention = [block.drop_attention for block in model.blocks]
    assert {layer.rate for layer in attention} == {0.3}
    to_itself = network(attends_to="self", attention_dropout=0.3)
    assert [block.drop_attention.rate for block in to_itself.blocks] == [0, 0.3, 0, 0.3]
    assert {layer.rate for layer in layers if layer not in attention} == {0.2}
    assert {layer.key for layer in layers} == {7}
    assert len({layer.site for layer in layers}) == 2 + 4 * len(model.blocks)


def test_no_gradient_reaches_what_a_hidden_cell_held() -> None:
    x = cells(6)
    held = x.scale.clone().requires_grad_()
    hidden = torch.rand(x.scale.shape, generator=torch.Generator().manual_seed(5)) < 0.5
    network()(ModelInput(x.codes, held, x.mask).hide(hidden)).sum().backward()
    assert held.grad is not None
    assert (held.grad[hidden] == 0).all()
    assert (held.grad[~hidden & (x.mask == 0)] != 0).any()


SMALL = NPTSettings(width=16, heads=4, layers=2)
IMAGE = Image(3, 8, 8)


def test_rows_that_attend_to_themselves_have_no_pairs() -> None:
    to_all = SMALL.changed(between_attributes=False)
    to_itself = to_all.changed(attends_to="self")
    for rows in (10, 20):
        pairs = 3 * 4 * (rows**2 - rows) * 16 * 3
        assert flops.update(rows, 3, to_all) - flops.update(rows, 3, to_itself) == pairs


def test_a_batch_has_its_rows_and_their_duplicates() -> None:
    batch = SMALL.changed(batch_rows=40)
    whole = flops.update(40, 5, SMALL)
    assert flops.update_flop(batch, 1000, 5, None) == whole
    assert flops.update_flop(SMALL.changed(batch_rows=45), 80, 5, None) == whole  # two of 40
    doubled = flops.update(80, 5, SMALL)
    lookup = batch.changed(**LOOKUP)
    assert flops.update_flop(lookup, 1000, 5, None) == doubled


def test_patches_and_encoded_images_are_the_tokens() -> None:
    columns = IMAGE.intensities + 1
    patches = SMALL.changed(patch=4)
    assert flops.update_flop(patches, 40, columns, IMAGE) == flops.update(40, 5, SMALL)
    spans = [PixelSettings(span=True), PixelSettings(span=True, threshold=0.1)]
    of_pixels = SMALL.changed(**{**ENCODED, "encoder": "siren"})
    whole, cut_off = (of_pixels.changed(pixels=span) for span in spans)
    assert flops.update_flop(cut_off, 40, columns, IMAGE) == flops.update_flop(
        whole, 40, columns, IMAGE
    )
    encoded = SMALL.changed(**ENCODED)
    images = flops.update_flop(encoded, 40, columns, IMAGE)
    assert images - flops.update(40, 1, encoded) > 0
    assert images < flops.update_flop(encoded, 80, columns, IMAGE)
