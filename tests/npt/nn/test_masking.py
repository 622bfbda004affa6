from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.nn.inputs import PART, EncodedTable
from npt.nn.masking import Masked, mask
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
    return EncodedTable.from_table(table, split, statistics(table, split), torch.device("cpu"))


def nine_rows() -> np.ndarray:
    rows = np.arange(9)
    return np.column_stack([rows % 3, np.linspace(-1, 1, 9), rows % 2]).astype(float)


def masked_by(data: EncodedTable, mode: Part, settings: NPTSettings) -> Masked:
    return mask(data, mode, settings, torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("mode", "changes", "hidden_parts"),
    [
        ("train", {}, {0, 1, 2}),
        ("validation", {}, {0, 1, 2}),
        ("test", {}, {0, 1, 2}),
        ("validation", {"target_mask": 0.5}, {1, 2}),
        ("test", {"target_mask": 0.5}, {2}),
        ("test", {"target_mask": 0.5, "validation_labels_at_test": False}, {1, 2}),
    ],
)
def test_which_targets_are_hidden_and_scored(
    mode: Part, changes: dict[str, Any], hidden_parts: set[int]
) -> None:
    data = encoded(nine_rows())
    masked = masked_by(data, mode, NPTSettings(**changes))
    hidden = masked.cells.mask[0, :, 2] == 1
    assert hidden.tolist() == [int(part) in hidden_parts for part in data.part]
    assert torch.equal(masked.labels, data.part == PART[mode])
    assert masked.features.any() == (mode == "train")


def test_selected_cells_are_hidden_or_randomised() -> None:
    """Shares of cells are within four standard errors."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=(60_000, 3))
    values[:, 0] = generator.integers(0, 5, 60_000)
    values[:, 2] = generator.integers(0, 2, 60_000)
    values[generator.random(values.shape) < 0.1] = np.nan
    data = encoded(values)
    masked = masked_by(data, "train", NPTSettings(feature_mask=0.15, target_mask=0.5))
    known = ~data.missing
    known_target = known[:, 2] & (data.part == PART["train"])
    assert not masked.features[:, 2].any()
    assert not (masked.features & ~known).any()
    assert not (masked.labels & ~known_target).any()
    assert is_near(masked.features[:, :2][known[:, :2]], 0.15)
    assert is_near(masked.labels[known_target], 0.5)

    hidden = masked.cells.mask[0] == 1
    selected = masked.features.clone()
    selected[:, 2] = masked.labels
    assert is_near(~hidden[selected], 0.1)
    always_hidden = data.missing.clone()
    always_hidden[:, 2] |= data.part != PART["train"]
    assert torch.equal(hidden & ~selected, always_hidden)
    assert not masked.cells.scale[0][hidden].any()

    random = selected & ~hidden
    for code in range(5):
        assert is_near(masked.cells.codes[0, random[:, 0], 0] == code, 0.2)
    numbers = masked.cells.scale[0, random[:, 1], 1]
    assert numbers.mean().item() == pytest.approx(0, abs=0.15)
    assert numbers.std().item() == pytest.approx(1, abs=0.15)
    is_right = masked.cells.codes[0, random[:, 2], 2] == data.codes[random[:, 2], 2]
    assert is_near(is_right, 0.5)


def is_near(cells: torch.Tensor, share: float) -> bool:
    error = (share * (1 - share) / len(cells)) ** 0.5
    return abs(cells.double().mean().item() - share) < 4 * error


def test_a_missing_target_is_hidden_and_never_scored() -> None:
    values = nine_rows()
    values[1, 2] = np.nan
    data = encoded(values)
    for mode in PARTS:
        for share in (1.0, 0.1, 0.5):
            masked = masked_by(data, mode, PLAIN.changed(target_mask=share))
            assert masked.cells.mask[0, 1, 2] == 1
            assert not masked.labels[1]


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
        before = masked_by(encoded(nine_rows()), mode, settings).cells
        after = masked_by(encoded(values), mode, settings).cells
        for name, cells in vars(before).items():
            assert torch.equal(cells, getattr(after, name))
