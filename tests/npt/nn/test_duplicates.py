"""The duplicates of the lookup task: which targets and features they show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.errors import UserError
from npt.interface import Resources
from npt.nn.inputs import PART, EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.masking import Masked, mask
from npt.table import Part, Table, Task
from tests.conftest import first_split, make_table
from tests.workflow.studies.models import LOOKUP, unrelated

VARIANTS = ("original", "random_features", "add_one", "random_features_add_one")
RELEASED = ("released_random_features", "released_add_one", "released_random_features_add_one")


def masked_by(
    variant: str, mode: Part, table: Table | None = None, **changes: Any
) -> tuple[EncodedTable, Masked]:
    """Sixty rows of six numbers and a target that shows nothing of them."""
    default, split = unrelated(60)
    table = table or default
    data = EncodedTable.from_table(table, split, statistics(table, split), torch.device("cpu"))
    settings = LOOKUP.changed(lookup=variant, **changes)
    return data, mask(data, mode, settings, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("mode", ["train", "validation", "test"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_duplicates_show_targets_of_their_mode_only(mode: Part, variant: str) -> None:
    data, masked = masked_by(variant, mode)
    cells, t = masked.cells, data.target
    in_mode = data.part == PART[mode]
    assert cells.codes.shape == (1, 120, 7)
    assert cells.mask[0, :60, t].eq(1).all()
    assert torch.equal(cells.mask[0, 60:, t] == 0, in_mode)
    assert torch.equal(masked.labels, in_mode)
    shift = 1.0 if "add_one" in variant else 0.0
    assert torch.allclose(cells.scale[0, 60:, t][in_mode], data.numbers[in_mode, t] + shift)
    assert cells.scale[0, 60:, t][~in_mode].eq(0).all()
    kept = slice(0, 3 if "random_features" in variant else 6)
    for half in (slice(0, 60), slice(60, 120)):
        assert torch.equal(cells.scale[0, half, kept], data.numbers[:, kept])
    if "random_features" in variant:
        noise = cells.scale[0, :, 3:6]
        assert not torch.equal(noise[:60], noise[60:])
        assert noise.mean() == pytest.approx(1, abs=0.2)
        assert cells.mask[0, :, 3:6].eq(0).all()


@pytest.mark.parametrize("variant", [*VARIANTS, *RELEASED])
def test_hidden_and_missing_targets_do_not_reach_the_input(variant: str) -> None:
    table, split = unrelated(60)
    missing = split.train[0]
    truth = table.truth
    truth[missing] = np.nan
    _, before = masked_by(variant, "train", table.with_numbers(table.target, truth))
    truth[np.concatenate([split.validation, split.test])] += 100
    _, after = masked_by(variant, "train", table.with_numbers(table.target, truth))
    assert torch.equal(before.cells.scale, after.cells.scale)
    assert before.cells.scale[0, 60 + missing, table.target] == 0
    assert before.cells.mask[0, 60 + missing, table.target] == 1
    assert not before.labels[missing]


@pytest.mark.parametrize("variant", [*VARIANTS, *RELEASED])
def test_noise_is_never_scored_as_a_feature(variant: str) -> None:
    _, masked = masked_by(variant, "train", feature_mask=0.5)
    is_noise = variant.startswith("random_features")
    assert masked.features[:, :6].any(0).tolist() == [True] * 3 + [not is_noise] * 3
    assert masked.cells.mask[0, :60, 3:6].any() != is_noise


@pytest.mark.parametrize("variant", RELEASED)
def test_released_variants_mark_changed_cells(variant: str) -> None:
    data, masked = masked_by(variant, "test")
    cells, t = masked.cells, data.target
    in_mode = data.part == PART["test"]
    assert torch.equal(
        cells.scale[0, :60, :t], data.numbers[:, :t]
    )  # the originals are as they were
    assert cells.mask[0, :60, :t].eq(0).all()
    noisy = "random_features" in variant
    assert torch.equal(cells.scale[0, 60:, :2], data.numbers[:, :2])
    assert torch.equal(cells.scale[0, 60:, 2:t], data.numbers[:, 2:t]) is not noisy
    assert cells.mask[0, 60:, 2:t].eq(float(noisy)).all()
    shift = float("add_one" in variant)
    assert torch.allclose(cells.scale[0, 60:, t][in_mode], data.numbers[in_mode, t] + shift)
    assert cells.mask[0, 60:, t][in_mode].eq(shift).all()
    assert cells.mask[0, 60:, t][~in_mode].eq(1).all()
    assert cells.scale[0, 60:, t][~in_mode].eq(0).all()


@pytest.mark.parametrize(
    ("task", "variant"), [("binary", "add_one"), ("regression", "random_features")]
)
def test_tables_that_do_not_fit_are_refused(task: Task, variant: str) -> None:
    table = make_table(task)
    split = first_split(table)
    settings = LOOKUP.changed(lookup=variant, batch_rows=None, updates=1)
    with pytest.raises(UserError, match="lookup: "):
        NPTLearner(settings, Resources()).fit(table.blind(split.test), split, 0)
