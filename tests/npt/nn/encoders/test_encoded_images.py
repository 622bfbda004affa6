"""NPT on images that an encoder makes one token of."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.interface import Resources
from npt.nn.embedding import ImageEmbedding
from npt.nn.learner import NPTLearner
from npt.nn.probe import NPTProbe
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.perturbation import Perturbation
from tests.npt.compact.tables import consecutive
from tests.npt.nn.test_patches import images

SETTINGS = NPTSettings(
    encoder="resnet18",
    width=8,
    layers=2,
    heads=2,
    between_attributes=False,
    feature_mask=0,
    tradeoff_start=0,
    target_mask=1,
    transductive=False,
    own_rows=True,
    batch_rows=40,
    updates=4,
    learning_rate=0.003,
    evaluate_every=1,
    augment=True,
)
SPLIT = consecutive(80, 20, 20)
SIREN = {"encoder": "siren", "pooling": 2, "pixels": {"span": True, "threshold": 0.1}}


def untrained_on_images(settings: NPTSettings) -> TrainedNPT:
    """A network with initial weights, and the images to train it on."""
    return TrainedNPT.untrained(settings, Resources(), images(), SPLIT, 0)


@pytest.fixture(scope="module")
def trained() -> TrainedNPT:
    """A small residual network, which no test changes."""
    learner = NPTLearner(SETTINGS.changed(learning_rate=0.3), Resources())
    learner.fit(images().blind(SPLIT.test), SPLIT, 0)
    return learner.trained


@pytest.mark.parametrize("changes", [{}, SIREN, {"between_datapoints": False}])
def test_an_image_is_one_token(changes: dict[str, Any]) -> None:
    trained = untrained_on_images(SETTINGS.changed(**changes))
    model = trained.model
    inputs = trained.data.take(torch.arange(20)).visible()
    assert model.embed(inputs).shape == (1, 20, 1, 8)
    outputs = model.predict_target(inputs)
    assert outputs.shape == (1, 20, 2)
    query = torch.tensor([[3]])
    assert torch.allclose(model.predict_target(inputs, query), outputs[:, 3:4], atol=1e-5)
    assert len(model.blocks) == (0 if changes == {"between_datapoints": False} else 1)


def test_statistics_of_normalisation_are_saved_with_the_weights(
    trained: TrainedNPT, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pt"
    trained.save(path)
    loaded = NPTLearner.load(SETTINGS, Resources(), path, images(), SPLIT, 0)
    for rows in (SPLIT.test, SPLIT.validation):
        expected = trained.predict(rows).values
        assert np.isfinite(expected).all()
        assert np.array_equal(loaded.predict(rows).values, expected)
    means = [tensor for name, tensor in trained.weights().items() if name.endswith("running_mean")]
    assert means[0].abs().max() > 0


def test_normalisation_before_training_is_of_train_images() -> None:
    untrained = untrained_on_images(SETTINGS.changed(batch_rows=80))
    untouched = untrained.model
    before = NPTProbe(untrained).before_training().trained.model
    inputs = untrained.data.take(torch.arange(80)).visible()
    embedding = before.embedding
    assert isinstance(embedding, ImageEmbedding)
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
    trained = untrained_on_images(SETTINGS.changed(between_datapoints=False))
    rows = SPLIT.test[:6]
    plain = trained.predict(rows).values
    shuffled = NPTProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 1.0), seed=0)
    assert np.allclose(shuffled, plain, atol=1e-6)
    assert np.allclose(trained.predict_alone(rows).values, plain, atol=1e-6)


def test_other_images_are_those_of_the_batch(trained: TrainedNPT) -> None:
    row = SPLIT.test[:1]
    inputs = trained.data.take(torch.from_numpy(row)).visible()
    with torch.no_grad():
        expected = trained.decode(trained.model.predict_target(inputs)[0]).values
    assert np.allclose(trained.predict_alone(row).values, expected, atol=1e-5)
    (attention,) = NPTProbe(trained).attention(row)
    assert {layer: weights.shape for layer, weights in attention.weights.items()} == {0: (2, 19)}
