from __future__ import annotations

import pytest

from npt.nn import flops
from npt.nn.settings import NPTSettings
from npt.table import Image
from performance.shapes import paper_shape

SMALL = NPTSettings(width=16, heads=4, layers=2)
IMAGE = Image(3, 8, 8)
TERAFLOP = {
    "yacht": 0.092,
    "boston_housing": 0.566,
    "breast_cancer": 0.197,
    "concrete": 0.533,
    "poker_hand": 1.259,
    "kick": 7.588,
    "income": 5.279,
    "forest_cover": 7.649,
    "higgs": 6.059,
}


@pytest.mark.parametrize("name", TERAFLOP)
def test_operations_of_an_update_of_the_paper(name: str) -> None:
    shape = paper_shape(name)
    operations = flops.update(shape.rows, shape.columns, shape.settings)
    assert operations / 1e12 == pytest.approx(TERAFLOP[name], abs=0.0006)


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
    doubled = flops.update(80, 5, SMALL)
    lookup = batch.changed(lookup="original", target_mask=1, feature_mask=0, tradeoff_start=0)
    assert flops.update_flop(lookup, 1000, 5, None) == doubled


def test_patches_and_encoded_images_are_the_tokens() -> None:
    columns = IMAGE.intensities + 1
    patches = SMALL.changed(patch=4)
    assert flops.update_flop(patches, 40, columns, IMAGE) == flops.update(40, 5, SMALL)
    encoded = SMALL.changed(
        encoder="resnet18", between_attributes=False, feature_mask=0, tradeoff_start=0
    )
    images = flops.update_flop(encoded, 40, columns, IMAGE)
    assert images - flops.update(40, 1, encoded) > 0
    assert images < flops.update_flop(encoded, 80, columns, IMAGE)
