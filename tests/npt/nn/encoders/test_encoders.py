"""Encoders of images: numbers of weights, positions, spans, and gradients."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.encoders.positions import (
    PixelSpan,
    Sinusoids,
    Siren,
    relative_coordinates,
    relative_index,
)
from npt.nn.encoders.resnet import ResNet18
from npt.nn.encoders.siren import PixelBlock, PixelEncoder
from npt.nn.image_layout import ImageLayout
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings, PixelSettings
from npt.table import Image
from tests.npt.nn.test_settings import ENCODED

PUBLISHED = [
    ({"dimensions": 1, "positions": "sinusoids"}, 231_754),
    ({"dimensions": 1}, 257_482),
    ({"dimensions": 1, "span": True}, 257_488),
    ({"dimensions": 2}, 257_866),
    ({"dimensions": 2, "span": True, "threshold": 0.1}, 257_878),
]


def weights_of(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("options", "count"), PUBLISHED)
def test_pixel_encoders_have_the_published_weights(options: dict[str, Any], count: int) -> None:
    """With the thesis' head; NPT adds a vector to its only token."""
    changes = {"encoder": "siren", "pixels": PixelSettings(**options), "between_datapoints": False}
    settings = NPTSettings(**{**ENCODED, **changes})
    images = ImageLayout(Image(height=8, width=8, channels=3), 192, settings)
    layout = ColumnLayout((1,) * 192 + (10,), (True,) * 192 + (False,), 192, images=images)
    assert weights_of(NPT(layout, settings)) == count + 64


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_siren_starts_in_its_ranges(dimensions: int) -> None:
    torch.manual_seed(0)
    siren = Siren([9] * dimensions, 64)
    largest = {
        siren.first: 1 / dimensions,
        siren.hidden: math.sqrt(6 / 64) / 10,
        siren.last: math.sqrt(6 / 64),
    }
    for layer, bound in largest.items():
        assert 0.95 * bound < layer.weight.abs().max() <= bound
        assert not layer.bias.any()


def test_resnet_has_the_weights_of_its_cifar_form() -> None:
    encoder = ResNet18(3)
    assert weights_of(encoder) + 512 * 10 + 10 == 11_173_962
    images = torch.randn(2, 3, 32, 32)
    assert encoder(images).shape == (2, 512)
    assert encoder.blocks(encoder.stem(images)).shape == (2, 512, 4, 4)


@pytest.mark.parametrize("sizes", [(7,), (3, 4)])
def test_the_index_depends_on_the_difference_alone(sizes: tuple[int, ...]) -> None:
    index = relative_index(sizes)
    coordinates = relative_coordinates(sizes)
    axes = torch.meshgrid(*[torch.arange(size) for size in sizes], indexing="ij")
    pixels = torch.stack(axes, -1).flatten(0, -2)
    largest = torch.tensor(sizes) - 1
    for i, pixel in enumerate(pixels):
        for j, other in enumerate(pixels):
            expected = (other - pixel) / largest
            assert torch.allclose(coordinates[index[i, j]], expected, atol=1e-6)
    assert len(index.unique()) == len(coordinates)


def test_sinusoids_are_of_whole_distances() -> None:
    waves = Sinusoids((5,), 8).waves
    assert waves.shape == (9, 8)
    assert waves[4].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert waves[6, 0].item() == pytest.approx(math.sin(2))


def test_a_span_is_cut_off_at_its_radius() -> None:
    span = PixelSpan((32, 32), 0.1)
    assert span.reach().tolist() == [20, 20]
    (excluded,) = (~span.excluded()).sum(0, keepdim=True)
    assert excluded == 41**2
    (row,) = PixelSpan((1024,), 0.1).reach().tolist()
    assert 2 * row + 1 == 1319
    assert PixelSpan((32,), None).reach().tolist() == [31]


def test_scores_equal_their_equation() -> None:
    torch.manual_seed(0)
    encoder = PixelEncoder(2, (3, 3), PixelSettings()).double().eval()
    block = encoder.blocks[0]
    assert isinstance(block, PixelBlock)
    nn.init.normal_(block.key_bias)
    nn.init.normal_(block.position_bias)
    x = torch.randn(1, 9, 64, dtype=torch.double)
    scores = block.scores(x)[0]
    embeddings = block.positions()
    queries, keys = block.query(x)[0], block.key(x)[0]
    for head in (0, 5):
        part = slice(8 * head, 8 * head + 8)
        for i in range(9):
            for j in (0, 4, 8):
                position = embeddings[block.index[i, j], part]
                query, key = queries[i, part], keys[j, part]
                expected = query @ key + query @ position
                expected = expected + block.key_bias[head] @ key
                expected = expected + block.position_bias[head] @ position
                assert scores[head, i, j].item() == pytest.approx(expected.item() / math.sqrt(8))


@pytest.mark.parametrize(
    "encoder",
    [
        ResNet18(1),
        PixelEncoder(1, (8, 8), PixelSettings(span=True, threshold=0.1)),
        PixelEncoder(1, (8, 8), PixelSettings(dimensions=1, positions="sinusoids")),
    ],
)
def test_all_weights_have_finite_gradients(encoder: nn.Module) -> None:
    torch.manual_seed(0)
    encoder(torch.randn(4, 1, 8, 8)).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
