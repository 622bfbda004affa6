from __future__ import annotations

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.nn.inputs import EncodedTable
from npt.nn.masking import mask
from npt.nn.settings import NPTSettings
from npt.table import PARTS, Column, Part, Split, Table

PLAIN = NPTSettings(width=8, heads=2, feature_mask=0, tradeoff_start=0)


COLUMNS = (
    Column("a", "categorical", tuple("vwxyz")),
    Column("b", "continuous"),
    Column("c", "categorical", ("0", "1")),
)


def encoded(values: np.ndarray) -> EncodedTable:
    """A category, a number and a class to predict; a third of the rows in each part."""
    table = Table.of(COLUMNS, values, 2)
    split = Split(0, *np.array_split(np.arange(len(values)), 3))
    return EncodedTable.of(table, split, statistics(table, split), torch.device("cpu"))


def nine_rows() -> np.ndarray:
    rows = np.arange(9)
    return np.column_stack([rows % 3, np.linspace(-1, 1, 9), rows % 2]).astype(float)


def large(rows: int = 4000) -> EncodedTable:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(rows, 3))
    values[:, 0] = generator.integers(0, 5, rows)
    values[:, 2] = generator.integers(0, 2, rows)
    values[generator.random(values.shape) < 0.1] = np.nan
    return encoded(values)


def draws() -> torch.Generator:
    return torch.Generator().manual_seed(0)


ALL, NONE = {0, 1, 2}, set()


@pytest.mark.parametrize(
    ("mode", "share", "hidden_parts", "scored_part"),
    [
        ("train", 1.0, ALL, 0),
        ("validation", 1.0, ALL, 1),
        ("test", 1.0, ALL, 2),
        ("validation", 0.5, {1, 2}, 1),
        ("test", 0.5, {2}, 2),
        ("validation", 0.1, {1, 2}, 1),
        ("test", 0.1, {2}, 2),
    ],
)
def test_which_targets_are_hidden_and_scored(
    mode: Part, share: float, hidden_parts: set[int], scored_part: int
) -> None:
    data = encoded(nine_rows())
    masked = mask(data, mode, PLAIN.changed(target_mask=share), draws())
    hidden = masked.cells.mask[0, :, 2] == 1
    assert hidden.tolist() == [int(part) in hidden_parts for part in data.part]
    assert masked.labels.tolist() == [int(part) == scored_part for part in data.part]
    assert not masked.features.any()


def test_with_shown_targets_only_drawn_ones_are_scored() -> None:
    data = large()
    masked = mask(data, "train", PLAIN.changed(target_mask=0.3), draws())
    own = (data.part == 0) & ~data.missing[:, 2]
    assert (masked.labels <= own).all()
    share = masked.labels[own].float().mean()
    assert abs(share - 0.3) < 4 * (0.3 * 0.7 / own.sum()) ** 0.5
    assert (masked.cells.mask[0, data.part != 0, 2] == 1).all()
    assert (masked.cells.mask[0, own & ~masked.labels, 2] == 0).all()


def test_drawn_targets_follow_the_ninety_to_ten_rule() -> None:
    data = large(30_000)
    masked = mask(data, "train", PLAIN.changed(target_mask=0.5), draws())
    shown = masked.labels & (masked.cells.mask[0, :, 2] == 0)
    share = shown.sum() / masked.labels.sum()
    assert abs(share - 0.1) < 4 * (0.09 / masked.labels.sum()) ** 0.5
    right = (masked.cells.codes[0, shown, 2] == data.codes[shown, 2]).float().mean()
    assert abs(right - 0.5) < 4 * (0.25 / shown.sum()) ** 0.5


def test_validation_labels_can_be_kept_from_the_test_rows() -> None:
    data = encoded(nine_rows())
    masked = mask(
        data, "test", PLAIN.changed(target_mask=0.5, validation_labels_at_test=False), draws()
    )
    assert (masked.cells.mask[0, :, 2] == 1).tolist() == [False] * 3 + [True] * 6


def test_a_missing_target_is_hidden_and_never_scored() -> None:
    values = nine_rows()
    values[1, 2] = np.nan
    data = encoded(values)
    for mode in PARTS:
        for share in (1.0, 0.1, 0.5):
            masked = mask(data, mode, PLAIN.changed(target_mask=share), draws())
            assert masked.cells.mask[0, 1, 2] == 1
            assert not masked.labels[1]


@pytest.mark.parametrize("fraction", [0.15, 0.4])
def test_feature_masks_follow_the_ninety_to_ten_rule(fraction: float) -> None:
    data = large()
    settings = NPTSettings(width=8, heads=2, feature_mask=fraction)
    masked = mask(data, "train", settings, draws())
    candidates = ~data.missing[:, :2]
    selected = masked.features[:, :2]
    assert (selected <= candidates).all()
    assert not masked.features[:, 2].any()
    share = selected[candidates].float().mean()
    assert abs(share - fraction) < 4 * (fraction * (1 - fraction) / candidates.sum()) ** 0.5
    shown = masked.cells.mask[0, :, :2] == 0
    random = (selected & shown).sum() / selected.sum()
    assert abs(random - 0.1) < 4 * (0.09 / selected.sum()) ** 0.5


def test_randomised_cells_are_valid_and_hidden_ones_empty() -> None:
    data = large(40_000)
    masked = mask(data, "train", NPTSettings(width=8, heads=2, feature_mask=0.5), draws())
    random = masked.features & (masked.cells.mask[0] == 0)
    codes = masked.cells.codes[0, random[:, 0], 0]
    counts = torch.bincount(codes, minlength=5).float()
    assert len(counts) == 5
    assert ((counts - counts.mean()).abs() < 5 * counts.mean() ** 0.5).all()
    numbers = masked.cells.scale[0, random[:, 1], 1]
    assert abs(numbers.mean()) < 0.1
    assert abs(numbers.var() - 1) < 0.15
    hidden = masked.cells.mask[0] == 1
    assert (masked.cells.scale[0][hidden] == 0).all()
    expected = data.missing | (masked.features & ~random)
    expected[:, 2] = True
    assert torch.equal(hidden, expected)


def test_evaluation_hides_no_features_and_truth_stays() -> None:
    data = large(300)
    before = [tensor.clone() for tensor in data.tensors]
    for mode in PARTS:
        masked = mask(data, mode, NPTSettings(width=8, heads=2, target_mask=0.5), draws())
        assert masked.features.any() == (mode == "train")
    assert all(map(torch.equal, before, data.tensors))


def test_the_input_does_not_depend_on_hidden_targets() -> None:
    cases: list[tuple[Part, slice, float]] = [
        ("validation", slice(3, 9), 0.1),
        ("test", slice(6, 9), 0.1),
    ]
    cases += [(mode, slice(0, 9), 1.0) for mode in PARTS]
    cases += [("train", slice(3, 9), 0.1)]
    for mode, hidden_rows, share in cases:
        values = nine_rows()
        values[hidden_rows, 2] = 1 - values[hidden_rows, 2]
        settings = PLAIN.changed(target_mask=share)
        before = mask(encoded(nine_rows()), mode, settings, draws()).cells
        after = mask(encoded(values), mode, settings, draws()).cells
        for name, cells in vars(before).items():
            assert torch.equal(cells, getattr(after, name))
