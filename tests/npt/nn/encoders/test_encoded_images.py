"""NPT on images that an encoder makes one token of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.errors import UserError
from npt.interface import Resources
from npt.nn.batches import partition, rows_of
from npt.nn.column_layout import ColumnLayout
from npt.nn.embedding import ImageEmbedding
from npt.nn.encoders.resnet import ResNet18
from npt.nn.learner import NPTLearner
from npt.nn.model import NPT
from npt.nn.probe import NPTProbe
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.perturbation import Perturbation
from npt.table import Split
from tests.conftest import make_table
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
SIREN = {"encoder": "siren", "pooling": 2, "pixels": {"span": True, "threshold": 0.1}}


def split() -> Split:
    rows = np.arange(120)
    return Split(0, rows[:80], rows[80:100], rows[100:])


def untrained_on_images(settings: NPTSettings) -> TrainedNPT:
    """A network with initial weights, and the images to train it on."""
    return TrainedNPT.untrained(settings, Resources(), images(), split(), 0)


def fitted(settings: NPTSettings, **options: Any) -> TrainedNPT:
    table = images()
    learner = NPTLearner(settings, Resources())
    learner.fit(table.blind(split().test), split(), 0, **options)
    return learner.trained


@pytest.fixture(scope="module")
def trained() -> TrainedNPT:
    """A small residual network, which no test changes."""
    return fitted(SETTINGS)


@pytest.mark.parametrize("changes", [{}, SIREN, {"between_datapoints": False}])
def test_an_image_is_one_token(changes: dict[str, Any]) -> None:
    settings = SETTINGS.changed(**changes)
    layout = ColumnLayout.of(images(), settings)
    model = NPT(layout, settings).eval()
    trained = untrained_on_images(settings)
    (rows, *_) = partition(trained.data, "test", settings, torch.Generator())
    inputs = trained.data.take(rows).visible()
    assert model.embed(inputs).shape == (1, len(rows), 1, 8)
    outputs = model.predict_target(inputs)
    assert outputs.shape == (1, len(rows), 2)
    query = torch.tensor([[3]])
    assert torch.allclose(model.predict_target(inputs, query), outputs[:, 3:4], atol=1e-5)
    assert len(model.blocks) == (0 if changes == {"between_datapoints": False} else 1)


def test_batches_have_rows_of_one_part() -> None:
    settings = SETTINGS.changed(evaluation_rows=7)
    data = untrained_on_images(settings).data
    for part, rows in (("train", 80), ("validation", 20), ("test", 20)):
        assert len(rows_of(data, part, settings)) == rows  # type: ignore[arg-type]
    sizes = [len(rows) for rows in partition(data, "test", settings, torch.Generator())]
    assert sizes == [7, 7, 6]


def test_statistics_of_normalisation_are_saved_with_the_weights(
    trained: TrainedNPT, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pt"
    trained.save(path)
    loaded = NPTLearner.load(SETTINGS, Resources(), path, images(), split(), 0)
    for rows in (split().test, split().validation):
        expected = trained.predict(rows).values
        assert np.isfinite(expected).all()
        assert np.array_equal(loaded.predict(rows).values, expected)
    encoder = trained.model.embedding.encoder  # type: ignore[union-attr]
    assert isinstance(encoder, ResNet18)
    mean = encoder.stem[1].running_mean
    assert isinstance(mean, torch.Tensor)
    assert mean.abs().max() > 0


def test_an_encoder_without_normalisation_is_as_it_was_before_training() -> None:
    trained = fitted(SETTINGS.changed(**SIREN))
    before = NPTProbe(trained).before_training().trained.model.state_dict()
    initial = untrained_on_images(trained.settings)
    for name, weights in initial.model.state_dict().items():
        assert torch.equal(before[name], weights)


def test_normalisation_before_training_is_of_train_images() -> None:
    trained = fitted(SETTINGS.changed(batch_rows=80))
    before = NPTProbe(trained).before_training().trained.model
    untouched = untrained_on_images(SETTINGS).model
    inputs = trained.data.take(torch.arange(80)).visible()
    embedding = before.embedding
    assert isinstance(embedding, ImageEmbedding)
    with torch.no_grad():
        encodings = embedding.encode(inputs)
        of_batch = embedding.train().encode(inputs)
        plain = untouched.embedding.encode(inputs)  # type: ignore[union-attr]
    deviation = of_batch.std(1)
    assert torch.allclose(encodings.std(1), deviation, rtol=0.05)
    assert not torch.allclose(plain.std(1), deviation, rtol=0.5)
    initial = dict(untouched.named_parameters())
    for name, weights in before.named_parameters():
        assert torch.equal(weights, initial[name])


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"between_attributes": True}, "between_attributes"),
        ({"feature_mask": 0.1}, "feature_mask"),
        ({"target_mask": 0.5, "own_rows": False}, "target_mask"),
        ({"transductive": True}, "transductive"),
        ({"encoder": "linear", "pooling": 2}, "pooling"),
        ({"pixels": {"threshold": 0.1}}, "threshold"),
        ({"pixels": {"positions": "sinusoids"}}, "positions"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        SETTINGS.changed(**changes)


def test_other_tables_are_refused() -> None:
    plain = SETTINGS.changed(augment=False)
    with pytest.raises(UserError, match="encoder: resnet18"):
        ColumnLayout.of(make_table("binary"), plain)
    with pytest.raises(UserError, match="pooling: 3"):
        ColumnLayout.of(images(), plain.changed(pooling=3))


def test_encodings_of_other_images_are_permuted() -> None:
    trained = fitted(SETTINGS.changed(updates=10, learning_rate=0.1))
    rows = split().test[:6]
    plain = trained.predict(rows).values
    control = NPTProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 0.0), seed=0)
    assert np.allclose(control, plain, atol=1e-6)
    shuffled = NPTProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 1.0), seed=0)
    assert np.abs(shuffled - plain).max() > 1e-4
    targets = Perturbation("shuffle", 1.0, columns="target")
    assert np.allclose(NPTProbe(trained).predict_perturbed(rows, targets, seed=0), plain, atol=1e-6)


def test_an_encoder_alone_ignores_other_images() -> None:
    trained = fitted(SETTINGS.changed(between_datapoints=False))
    rows = split().test[:6]
    plain = trained.predict(rows).values
    shuffled = NPTProbe(trained).predict_perturbed(rows, Perturbation("shuffle", 1.0), seed=0)
    assert np.allclose(shuffled, plain, atol=1e-6)
    assert np.allclose(trained.predict_alone(rows).values, plain, atol=1e-6)


def test_a_query_alone_is_the_only_row_of_its_batch(trained: TrainedNPT) -> None:
    rows = split().test[:3]
    alone = trained.predict_alone(rows).values
    assert alone.shape == (3, 2)
    inputs = trained.data.take(torch.from_numpy(rows[:1])).visible()
    with torch.no_grad():
        expected = trained.decode(trained.model.predict_target(inputs)[0]).values
    assert np.allclose(alone[:1], expected, atol=1e-5)


def test_attention_is_to_the_other_images_of_the_batch(trained: TrainedNPT) -> None:
    (attention, *_) = NPTProbe(trained).attention(split().test[:2])
    assert list(attention.weights) == [0]
    assert attention.weights[0].shape == (2, 19)
