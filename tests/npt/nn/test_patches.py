"""Images: patches are tokens, masks and losses act on single intensities."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.data import store
from npt.data.declaration import SplitRule
from npt.data.encoding import statistics
from npt.data.splits import splits
from npt.errors import UserError
from npt.nn.augmentation import PADDING, augmented
from npt.nn.column_layout import ColumnLayout, ImageLayout
from npt.nn.embedding import PatchEmbedding
from npt.nn.head import PatchHead
from npt.nn.inputs import EncodedTable
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.probe import NPTProbe
from npt.nn.trained_network import build_model
from npt.nn.training import NPTTraining
from npt.perturbation import Perturbation
from npt.table import Column, Image, Split, Table
from tests.conftest import SMALL_NPT, make_table
from tests.npt.test_settings import ENCODED
from tests.workflow.studies.models import fitted

IMAGE = Image(2, 8, 12, (100.0, 50.0), (40.0, 20.0))
SETTINGS = SMALL_NPT.changed(
    updates=60,
    learning_rate=0.02,
    target_mask=1,
    attention_dropout=0.0,
    hidden_dropout=0.0,
    batch_rows=40,
)
CPU = torch.device("cpu")


def images(rows: int = 120, target: int = IMAGE.intensities) -> Table:
    """The brighter half of the image, left or right, is the class."""
    generator = np.random.default_rng(0)
    shape = IMAGE.channels, IMAGE.height, IMAGE.width
    pixels, side = generator.integers(0, 80, (rows, *shape)), generator.integers(0, 2, rows)
    for number, bright in enumerate(side):
        pixels[number, :, :, 6 * bright : 6 * bright + 6] += 120
    columns = [Column(f"x{j}", "continuous") for j in range(IMAGE.intensities)]
    values = pixels.reshape(rows, -1).astype(float)
    columns.insert(target, Column("side", "categorical", ("left", "right")))
    table = Table.from_values(columns, np.insert(values, target, side, axis=1), target)
    return replace(table, image=IMAGE)


def encoded(table: Table) -> tuple[EncodedTable, Split]:
    split = splits(table, SplitRule(folds=4, used=1))[0]
    return EncodedTable.from_table(table, split, statistics(table, split), CPU), split


def network(table: Table) -> NPT:
    return build_model(NPT, 3, CPU, ColumnLayout.from_table(table, SETTINGS), SETTINGS)


@pytest.mark.parametrize("target", [0, 70, 192])
def test_a_patch_is_a_square_of_pixels_in_all_channels(target: int) -> None:
    table = images(4, target=target)
    pixels = np.delete(table.values, target, axis=1).reshape(4, 2, 8, 12)
    columns = ImageLayout.from_table(table, SETTINGS).columns()
    squares = table.values[:, columns]  # (rows, P, p * p, c)
    columns = ImageLayout.from_table(table, SETTINGS.changed(patch_shape="strip")).columns()
    strips = table.values[:, columns]
    assert squares.shape == (4, 6, 16, 2)
    for number in range(6):
        down, across = 4 * (number // 3), 4 * (number % 3)
        square = pixels[:, :, down : down + 4, across : across + 4]
        assert np.array_equal(squares[:, number].transpose(0, 2, 1), square.reshape(4, 2, 16))
    assert np.array_equal(strips.reshape(4, -1), pixels.reshape(4, -1))


def test_embedding_and_head_are_one_matrix_for_all_patches() -> None:
    table = images(40, target=70)
    data, _ = encoded(table)
    model = network(table)
    embedding, head = model.embedding, model.head
    assert isinstance(embedding, PatchEmbedding)
    assert isinstance(head, PatchHead)
    cells = mask(data, "train", SETTINGS, torch.Generator().manual_seed(0)).cells
    tokens = embedding(cells)
    assert tokens.shape == (1, 40, 7, 8)
    columns = embedding.columns
    for number in range(6):
        expected = torch.zeros(40, 8)
        for pixel in range(16):
            for channel in range(2):
                j = columns[number, pixel, channel]
                expected += cells.scale[0, :, j, None] * embedding.weight[pixel, channel]
                expected += cells.mask[0, :, j, None] * embedding.weight[pixel, 2 + channel]
        assert torch.allclose(tokens[0, :, number], expected, atol=1e-5)
    numbers = head.numbers(tokens)
    assert numbers.shape == (1, 40, 193)
    for number in range(6):
        decoded = head.decode_patch(tokens[0, :, number]).view(40, 16, 2)
        assert torch.allclose(numbers[0][:, columns[number]], decoded, atol=1e-6)


def test_it_learns_which_half_is_bright_and_can_be_probed() -> None:
    table = images()
    split = splits(table, SplitRule(folds=4, used=1))[0]
    trained = fitted(SETTINGS, table, split)
    predicted = trained.predict(split.test).values
    assert (predicted.argmax(1) == table.truth[split.test]).mean() > 0.9
    shuffled = Perturbation("shuffle", 1.0)
    corrupted = NPTProbe(trained).predict_perturbed(split.test[:5], shuffled, 0)
    assert corrupted.shape == (5, 2)
    assert np.isfinite(corrupted).all()


def test_only_train_images_are_cropped_and_mirrored() -> None:
    table = images(40, target=70)
    data, split = encoded(table)
    new = augmented(data, IMAGE, torch.Generator().manual_seed(0))
    rest = np.concatenate([split.validation, split.test])
    assert torch.equal(new.numbers[rest], data.numbers[rest])
    assert torch.equal(new.codes, data.codes)
    features = np.arange(193) != 70
    pixels, cropped = (x.numbers[:, features].view(-1, 2, 8, 12).numpy() for x in (data, new))
    black = (-np.array(IMAGE.centre) / IMAGE.scale).astype(np.float32)
    crops = []
    for row in split.train:
        borders = [(0, 0), (PADDING, PADDING), (PADDING, PADDING)]
        framed = np.pad(pixels[row] - black[:, None, None], borders) + black[:, None, None]
        for down, right, step in product(range(9), range(9), (1, -1)):
            crop = framed[:, down : down + 8, right : right + 12]
            if np.allclose(crop[..., ::step], cropped[row], atol=1e-5):
                crops.append((down, right, step))
    assert len(crops) == len(split.train)
    assert len({(down, right) for down, right, _ in crops}) > 10
    assert 0.2 < np.mean([step == -1 for *_, step in crops]) < 0.8


def test_every_update_has_its_own_crops() -> None:
    table = images()
    data, _ = encoded(table)
    changes = {"batch_rows": None, "learning_rate": 1e-30, "feature_mask": 0, "tradeoff_start": 0}
    settings = SETTINGS.changed(augment=True, **changes)
    training = NPTTraining(network(table), data, settings, 3)
    first, again, second = (float(training.update(number)) for number in (1, 1, 2))
    assert first == again != second


def test_channels_are_standardised_as_declared(tmp_path: Path) -> None:
    table = images(target=70)
    split = splits(table, SplitRule(folds=4, used=1))[0]
    store.save(tmp_path / "one.arrow", store.Prepared(table, {0: split}, {}))
    known = statistics(store.load(tmp_path / "one.arrow").table, split)
    assert set(np.delete(known.centre, 70)[:96]) == {100.0}
    assert set(np.delete(known.scale, 70)[96:]) == {20.0}


SMALL = replace(images(5), image=Image(6, 5, 5))
WITHOUT_SCALES = replace(images(5), image=Image(2, 8, 12))


@pytest.mark.parametrize(
    ("table", "changes", "error"),
    [
        (images(5), {"patch": 5}, "patch: 5 .* 8 x 12 pixels"),
        (images(5), {**ENCODED, "pooling": 3}, "pooling: 3"),
        (images(5), {"kernel": "span"}, "kernel: span"),
        (images(5), {**ENCODED, "kernel": "span"}, "kernel: span"),
        (SMALL, {"patch": 5}, "150 intensities"),
        (WITHOUT_SCALES, {"augment": True}, "augment"),
        (make_table("binary"), ENCODED, "encoder: resnet18"),
        (make_table("binary"), {"output": "gaussian"}, "output: gaussian .* binary"),
    ],
)
def test_unfit_tables_are_refused(table: Table, changes: dict[str, Any], error: str) -> None:
    settings = SETTINGS.changed(**changes)
    with pytest.raises(UserError, match=error):
        NPT(ColumnLayout.from_table(table, settings), settings)
