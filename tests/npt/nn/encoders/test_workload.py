"""Operations of encoders against an operation counter."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.nn.encoders.images import EncodedImages
from npt.nn.encoders.workload import activations, forward
from npt.nn.settings import NPTSettings
from npt.nn.workload import workload
from npt.table import Image
from npt.workload import TableSize
from tests.npt.nn.encoders.test_encoded_images import SETTINGS, SIREN

IMAGE = Image(3, 32, 32, (), ())
COUNTED = 64  # images, which share the networks of positions
COLUMNS = IMAGE.intensities + 1


@pytest.mark.parametrize("changes", [{}, {**SIREN, "pooling": 4}])
def test_operations_are_counted(changes: dict[str, Any]) -> None:
    settings = SETTINGS.changed(**changes)
    images = EncodedImages(IMAGE, 0, settings.encoder, settings.pixels, settings.pooling)
    encoder = images.build().eval()
    height, width = images.size
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        encoder(torch.randn(COUNTED, 3, height, width))
    counted = counter.get_total_flops() / COUNTED
    assert forward(settings, COLUMNS, (32, 32)) == pytest.approx(counted, rel=0.02)
    assert activations(settings, COLUMNS, (32, 32)) > 0


def test_linear_patches_have_no_encoder() -> None:
    assert forward(NPTSettings(), COLUMNS, (32, 32)) == 0
    assert activations(NPTSettings(), COLUMNS, (32, 32)) == 0


def test_a_training_counts_its_encoder() -> None:
    size = TableSize(rows=1000, columns=COLUMNS, train_rows=800, pixels=(32, 32))
    with_attention = workload(SETTINGS, size)
    alone = workload(SETTINGS.changed(between_datapoints=False), size)
    of_images = 3 * 40 * forward(SETTINGS, COLUMNS, (32, 32))
    assert alone.update_flop == of_images
    assert of_images < with_attention.update_flop < 1.01 * of_images


def test_a_batch_is_encoded_once_for_all_its_probed_images() -> None:
    size = TableSize(rows=1000, columns=COLUMNS, train_rows=800, pixels=(32, 32))
    alone = workload(SETTINGS.changed(between_datapoints=False), size)
    assert alone.query_flop == forward(SETTINGS, COLUMNS, (32, 32))
