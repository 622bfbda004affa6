"""Encoders of images, and NPT on images that one makes a token of."""

import math
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch import nn

from npt.interface import Resources
from npt.nn.column_layout import ColumnLayout, ImageLayout
from npt.nn.embedding import ImageEmbedding
from npt.nn.encoders import positions
from npt.nn.encoders.resnet import ResNet18
from npt.nn.encoders.siren import PixelBlock, PixelEncoder
from npt.nn.learner import NPTLearner
from npt.nn.model import NPT
from npt.nn.probe import NPTProbe
from npt.nn.settings import NPTSettings, PixelSettings
from npt.nn.trained import TrainedNPT
from npt.nn.trained_network import decoded
from npt.perturbation import Perturbation
from npt.table import Image, Split
from tests.npt.compact.tables import consecutive
from tests.npt.nn.test_patches import images
from tests.npt.test_settings import ENCODED
from tests.workflow.studies.models import fitted

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


def test_pixels_are_pooled_by_the_last_or_their_mean() -> None:
    images = torch.randn(2, 3, 4, 4)
    last = PixelEncoder(3, (4, 4), PixelSettings()).eval()
    mean = PixelEncoder(3, (4, 4), PixelSettings(pool="mean")).eval()
    mean.load_state_dict(last.state_dict())
    tokens: list[torch.Tensor] = []
    last.blocks[-1].register_forward_hook(lambda block, inputs, x: tokens.append(x))
    assert torch.equal(last(images), tokens[0][:, -1])
    assert torch.equal(mean(images), tokens[0].mean(1))


@pytest.mark.parametrize("dimensions", [1, 2])
def test_a_siren_starts_in_its_ranges(dimensions: int) -> None:
    torch.manual_seed(0)
    siren = positions.Siren([9] * dimensions, 64)
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
    index = positions.relative_index(sizes)
    coordinates = positions.relative_coordinates(sizes)
    axes = torch.meshgrid(*[torch.arange(size) for size in sizes], indexing="ij")
    pixels = torch.stack(axes, -1).flatten(0, -2)
    largest = torch.tensor(sizes) - 1
    for i, pixel in enumerate(pixels):
        for j, other in enumerate(pixels):
            expected = (other - pixel) / largest
            assert torch.allclose(coordinates[index[i, j]], expected, atol=1e-6)
    assert len(index.unique()) == len(coordinates)


def test_sinusoids_are_of_whole_distances() -> None:
    waves = positions.Sinusoids((5,), 8).waves
    assert waves.shape == (9, 8)
    assert waves[4].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert waves[6, 0].item() == pytest.approx(math.sin(2))


def test_a_span_is_cut_off_at_its_radius() -> None:
    span = positions.PixelSpan((32, 32), 0.1)
    assert span.reach().tolist() == [20, 20]
    (excluded,) = (~span.excluded(span.reach())).sum(0, keepdim=True)
    assert excluded == 41**2
    (row,) = positions.PixelSpan((1024,), 0.1).reach().tolist()
    assert 2 * row + 1 == 1319
    assert positions.PixelSpan((32,), None).reach().tolist() == [31]


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
    ("size", "dimensions", "sigma"),
    [
        ((8, 12), 2, (0.05, 0.08)),
        ((6, 9), 2, (0.0, 0.1)),
        ((7, 10), 2, (0.05, 0.05)),
        ((8, 8), 1, (0.06,)),
    ],
)
def test_local_attention_equals_the_masked_form(
    size: tuple[int, int], dimensions: Literal[1, 2], sigma: tuple[float, ...]
) -> None:
    torch.manual_seed(0)
    settings = PixelSettings(dimensions=dimensions, span=True, threshold=0.2)
    block = PixelEncoder(2, size, settings).double().eval().blocks[0]
    assert isinstance(block, PixelBlock) and block.span is not None
    nn.init.normal_(block.key_bias)
    nn.init.normal_(block.position_bias)
    block.span.sigma.data[:] = torch.tensor(sigma) + 1e-9
    assert block.tiles(block.span.reach()) is not None
    x = torch.randn(3, math.prod(size), 64, dtype=torch.double)
    local = block(x)
    with patch.object(PixelBlock, "tiles", return_value=None):
        masked = block(x)
    assert torch.allclose(local, masked, atol=1e-12)
    weights = list(block.parameters())
    gradients = zip(
        torch.autograd.grad(local.square().sum(), weights),
        torch.autograd.grad(masked.square().sum(), weights),
        strict=True,
    )
    for ours, theirs in gradients:
        assert torch.allclose(ours, theirs, atol=1e-9)


def test_a_span_that_is_not_a_number_is_no_failure() -> None:
    block = PixelEncoder(2, (8, 8), PixelSettings(span=True, threshold=0.2)).blocks[0]
    assert isinstance(block, PixelBlock) and block.span is not None
    block.span.sigma.data[:] = math.nan
    assert block(torch.randn(1, 64, 64)).isnan().all()


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


RESNET = NPTSettings(
    **ENCODED,
    width=8,
    layers=2,
    heads=2,
    transductive=False,
    own_rows=True,
    batch_rows=40,
    updates=4,
    learning_rate=0.003,
    evaluate_every=1,
    augment=True,
)
IMAGES = images(target=0)  # an index that a feature of an encoding has too
SPLIT = consecutive(80, 20, 20)
SIREN = {"encoder": "siren", "pooling": 2, "pixels": {"span": True, "threshold": 0.1}}


def untrained_on_images(settings: NPTSettings) -> TrainedNPT:
    """A network with initial weights, and the images to train it on."""
    return TrainedNPT.untrained(settings, torch.device("cpu"), IMAGES, SPLIT, 0)


@pytest.fixture(scope="module")
def trained() -> TrainedNPT:
    """A small residual network, which no test changes."""
    return fitted(RESNET.changed(learning_rate=0.3), IMAGES, SPLIT)


@pytest.mark.parametrize("changes", [{}, SIREN, {"between_datapoints": False}])
def test_an_image_is_one_token(changes: dict[str, Any]) -> None:
    trained = untrained_on_images(RESNET.changed(**changes))
    model = trained.model
    inputs = trained.data.take(torch.arange(20)).visible()
    assert model.embed(inputs).shape == (1, 20, 1, 8)
    outputs = model.predict_target(inputs)
    assert outputs.shape == (1, 20, 2)
    query = torch.tensor([[3]])
    assert torch.allclose(model.predict_target(inputs, query), outputs[:, 3:4], atol=1e-5)
    assert len(model.blocks) == (0 if changes == {"between_datapoints": False} else 1)


def test_statistics_of_normalisation_are_saved(trained: TrainedNPT, tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    trained.save(path)
    loaded = NPTLearner.load(RESNET, Resources(), path, IMAGES, SPLIT, 0)
    for rows in (SPLIT.test, SPLIT.validation):
        expected = trained.predict(rows).values
        assert np.isfinite(expected).all()
        assert np.array_equal(loaded.predict(rows).values, expected)
    means = [tensor for name, tensor in trained.weights().items() if name.endswith("running_mean")]
    assert means[0].abs().max() > 0


def test_normalisation_before_training_is_of_train_images() -> None:
    untrained = untrained_on_images(RESNET.changed(batch_rows=60))
    untouched = untrained.model
    last = Split(0, np.arange(40, 120), np.arange(20), np.arange(20, 40))
    probe = NPTProbe(untrained.with_table(IMAGES, last))
    before = probe.before_training().trained.model
    inputs = untrained.data.take(torch.arange(40, 100)).visible()
    embedding = before.embedding
    assert isinstance(embedding, ImageEmbedding)
    expected = deepcopy(embedding)
    expected.set_statistics(inputs)
    assert all(map(torch.equal, embedding.buffers(), expected.buffers()))
    with torch.no_grad():
        encodings = embedding.encode(inputs)
        batch_encodings = embedding.train().encode(inputs)
        plain = untouched.embedding.encode(inputs)  # type: ignore[union-attr]
    deviation = batch_encodings.std(1)
    assert torch.allclose(encodings.std(1), deviation, rtol=0.05)
    assert not torch.allclose(plain.std(1), deviation, rtol=0.5)
    initial = dict(untouched.named_parameters())
    for name, weights in before.named_parameters():
        assert torch.equal(weights, initial[name])


def test_encodings_of_other_images_are_permuted(trained: TrainedNPT) -> None:
    rows = SPLIT.test[:6]
    plain = trained.predict(rows).values
    perturbed = partial(NPTProbe(trained).predict_perturbed, rows, seed=0)
    assert np.allclose(perturbed(Perturbation("shuffle", 0.0)), plain, atol=1e-6)
    assert np.abs(perturbed(Perturbation("shuffle", 1.0)) - plain).max() > 1e-5
    targets = Perturbation("shuffle", 1.0, columns="target")
    assert np.allclose(perturbed(targets), plain, atol=1e-6)


def test_an_encoder_alone_ignores_other_images() -> None:
    trained = untrained_on_images(RESNET.changed(between_datapoints=False))
    rows = SPLIT.test[:6]
    plain = trained.predict(rows).values
    shuffled = NPTProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 1.0), seed=0)
    assert np.allclose(shuffled, plain, atol=1e-6)
    assert np.allclose(trained.predict_alone(rows).values, plain, atol=1e-6)


def test_other_images_are_those_of_the_batch(trained: TrainedNPT) -> None:
    row = SPLIT.test[:1]
    inputs = trained.data.take(torch.from_numpy(row)).visible()
    with torch.no_grad():
        expected = decoded(trained, trained.model.predict_target(inputs)[0])
    assert np.allclose(trained.predict_alone(row).values, expected, atol=1e-5)
    (attention,) = NPTProbe(trained).attention(row)
    assert {layer: weights.shape for layer, weights in attention.weights.items()} == {0: (2, 19)}
