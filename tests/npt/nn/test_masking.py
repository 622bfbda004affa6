"""Which cells are hidden and scored, and what the duplicates of the lookup task show."""

from typing import Any

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.errors import UserError
from npt.nn.duplicates import noisy_from
from npt.nn.inputs import PART, EncodedTable
from npt.nn.masking import Masked, mask
from npt.nn.settings import NPTSettings
from npt.table import PARTS, Column, Part, Split, Table, Task
from tests.conftest import first_split, make_table
from tests.workflow.studies.models import LOOKUP, fitted, unrelated

PLAIN = NPTSettings(width=8, heads=2, feature_mask=0, tradeoff_start=0)


COLUMNS = (
    Column("a", "categorical", tuple("vwxyz")),
    Column("b", "continuous"),
    Column("c", "categorical", ("0", "1")),
)


def encoded(values: np.ndarray) -> EncodedTable:
    """A category, a number and a class to predict; a third of the rows in each part."""
    table = Table.from_values(COLUMNS, values, 2)
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


def test_scored_targets_are_hidden_where_no_feature_is() -> None:
    data = encoded(np.tile(nine_rows(), (1000, 1)))
    masked = masked_by(data, "train", PLAIN.changed(target_mask=0.5))
    assert is_near(masked.cells.mask[0, masked.labels, 2] == 1, 0.9)


def is_near(cells: torch.Tensor, share: float) -> bool:
    error = (share * (1 - share) / len(cells)) ** 0.5
    return abs(cells.double().mean().item() - share) < 4 * error


def test_a_missing_target_is_hidden_and_never_scored() -> None:
    values = nine_rows()
    missing = [1, 4, 7]  # one in each part
    values[missing, 2] = np.nan
    data = encoded(values)
    for mode in PARTS:
        for share in (1.0, 0.1, 0.5):
            masked = masked_by(data, mode, PLAIN.changed(target_mask=share))
            assert masked.cells.mask[0, missing, 2].all()
            assert not masked.labels[missing].any()


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
        assert all(map(torch.equal, before, after))


VARIANTS = ("original", "random_features", "add_one", "random_features_add_one")
RELEASED = ("released_random_features", "released_add_one", "released_random_features_add_one")


def with_duplicates(
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
    data, masked = with_duplicates(variant, mode)
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
    _, before = with_duplicates(variant, "train", table.with_numbers(table.target, truth))
    truth[np.concatenate([split.validation, split.test])] += 100
    _, after = with_duplicates(variant, "train", table.with_numbers(table.target, truth))
    assert torch.equal(before.cells.scale, after.cells.scale)
    assert before.cells.scale[0, 60 + missing, table.target] == 0
    assert before.cells.mask[0, 60 + missing, table.target] == 1
    assert not before.labels[missing]


@pytest.mark.parametrize("variant", [*VARIANTS, *RELEASED])
def test_noise_is_never_scored_as_a_feature(variant: str) -> None:
    _, masked = with_duplicates(variant, "train", feature_mask=0.5)
    is_noise = variant.startswith("random_features")
    assert masked.features[:, :6].any(0).tolist() == [True] * 3 + [not is_noise] * 3
    assert masked.cells.mask[0, :60, 3:6].any() != is_noise


@pytest.mark.parametrize(
    ("variant", "first"),
    [("random_features", [0, 0, 0, 1]), ("released_random_features", [0, 1, 2, 2])],
)
def test_some_features_are_noisy_in_any_table(variant: str, first: list[int]) -> None:
    assert [noisy_from(variant, features) for features in (1, 2, 3, 4)] == first


@pytest.mark.parametrize("variant", RELEASED)
def test_released_variants_mark_changed_cells(variant: str) -> None:
    data, masked = with_duplicates(variant, "test")
    cells, t = masked.cells, data.target
    in_mode = data.part == PART["test"]
    assert torch.equal(cells.scale[0, :60, :t], data.numbers[:, :t])  # as they were
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
def test_unfit_tables_are_refused(task: Task, variant: str) -> None:
    table = make_table(task)
    split = first_split(table)
    settings = LOOKUP.changed(lookup=variant, batch_rows=None, updates=1)
    with pytest.raises(UserError, match="lookup: "):
        fitted(settings, table, split)
