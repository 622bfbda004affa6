"""Cells to tensors and tokens, against a slow reference for every cell."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact.columns import Encoder, Features
from npt.compact.embedding import CellEmbedding
from npt.compact.settings import CompactSettings
from npt.table import Column, Table
from tests.conftest import first_split
from tests.npt.compact.tables import CPU, TINY, consecutive, mixed_table, table_of

TABLE = mixed_table(rows=40)
NUMBERS = {1: 0, 2: 1}  # columns of the table, and their places among numbers
CATEGORIES = {2: 0, 3: 1}
LEVELS = np.array([1, 10, 2.5])
SIZES = (3, 2)
MEMBERS = 3


def build(settings: CompactSettings) -> tuple[CellEmbedding, Features]:
    settings = settings.changed(members=MEMBERS)
    encoder = Encoder.from_table(TABLE, first_split(TABLE), settings)
    torch.manual_seed(0)
    embedding = CellEmbedding(encoder, settings).double()
    return embedding, encoder.encode(TABLE).to(CPU, torch.float64)


def numbers_of(column: int) -> np.ndarray:
    numbers = TABLE.numbers(column)
    return LEVELS[numbers.astype(int)] if column == 2 else numbers


def shares_below(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Share of each bin that lies below each number (n, b), by its definition."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, bins + 1)))
    shares = np.zeros((len(numbers), bins))
    for index, (low, high) in enumerate(pairwise(edges)):
        for row, number in enumerate(numbers):
            shares[row, index] = min(max((number - low) / (high - low), 0), 1)
    return shares


@torch.no_grad()
def reference(embedding: CellEmbedding, functions: dict[int, np.ndarray]) -> Tensor:
    """Tokens (K, n, d + 1, e), cell by cell."""
    levels = embedding.levels.weight
    starts = np.cumsum([0, *SIZES])
    tokens = torch.zeros(MEMBERS, TABLE.rows, 4, TINY.token_width, dtype=torch.float64)
    tokens[:, :, 3] = embedding.target[:, :, 0]
    for member, row, column in product(range(MEMBERS), range(TABLE.rows), (1, 2, 3)):
        place = column - 1
        if math.isnan(TABLE.numbers(column)[row]):
            tokens[member, row, place] = embedding.hidden[member, 0, place]
            continue
        token = embedding.offset[member, 0, place].clone()
        if column in NUMBERS:
            numbers = numbers_of(column)
            number = (numbers[row] - np.nanmean(numbers)) / np.nanstd(numbers)
            j = NUMBERS[column]
            token += number * embedding.slope[member, j, 0]
            for index, value in enumerate(functions[column][row]):
                token += value * embedding.weight[member, j, index]
        if column in CATEGORIES:
            code = int(TABLE.numbers(column)[row])
            token += levels[member, starts[CATEGORIES[column]] + code]
        tokens[member, row, place] = token
    return tokens


@pytest.mark.parametrize("kind", ["piecewise", "periodic"])
def test_tokens_equal_the_reference(kind: str) -> None:
    embedding, features = build(TINY.changed(number_embedding=kind))
    functions = {}
    for column, j in NUMBERS.items():
        numbers = numbers_of(column)
        known = ~np.isnan(numbers)
        if kind == "piecewise":
            functions[column] = np.zeros((len(numbers), TINY.bins))
            shares = shares_below(numbers[known], TINY.bins)
            functions[column][known] = shares - shares.mean(0)
        else:
            standardised = (numbers - np.nanmean(numbers)) / np.nanstd(numbers)
            frequency = embedding.functions.frequency[j].numpy()
            phase = embedding.functions.phase[j].numpy()
            functions[column] = np.cos(2 * np.pi * (standardised[:, None] * frequency + phase))
    assert torch.allclose(embedding(features), reference(embedding, functions), atol=1e-5)


@pytest.mark.parametrize("kind", ["piecewise", "periodic", "linear"])
def test_a_missing_cell_has_the_vector_of_its_column(kind: str) -> None:
    embedding, features = build(TINY.changed(number_embedding=kind))
    everything = torch.ones_like(features.missing)
    missing = features._replace(missing=everything)
    other = missing._replace(
        numbers=features.numbers + 5,
        positions=features.positions + 2,
        codes=1 - features.codes.clamp(max=1),
    )
    tokens = embedding(missing)
    assert torch.equal(tokens, embedding(other))
    vectors = embedding.hidden.expand(-1, TABLE.rows, -1, -1)
    assert torch.equal(tokens[:, :, :3], vectors)
    assert len({tuple(vector.tolist()) for vector in vectors[:, 0].flatten(0, 1)}) == 3 * MEMBERS


def test_hidden_cells_are_as_missing_ones() -> None:
    embedding, features = build(TINY)
    hidden = torch.rand(MEMBERS, *features.missing.shape) < 0.5
    tokens = embedding(features, hidden)
    for member in range(MEMBERS):
        missing = features._replace(missing=features.missing | hidden[member])
        assert torch.equal(tokens[member], embedding(missing)[member])


FOUR_BINS = TINY.changed(bins=4)
NAN = float("nan")


def encoder_of_numbers(numbers: list[float], bins: int) -> Encoder:
    rows = len(numbers)
    table = table_of(np.array(numbers)[:, None], np.arange(rows))
    return Encoder.from_table(table, consecutive(rows - 2, 1, 1), TINY.changed(bins=bins))


def encoded(encoder: Encoder, numbers: list[float]) -> Features:
    return encoder.encode(table_of(np.array(numbers)[:, None], np.zeros(len(numbers))))


def positions(encoder: Encoder, numbers: list[float]) -> list[float]:
    return encoded(encoder, numbers).positions[:, 0].tolist()


def test_positions_are_linear_between_edges_and_bounded() -> None:
    encoder = encoder_of_numbers([0, 1, 2, 4, 8, 16, 32, 64, 128], bins=8)
    assert positions(encoder, [3, 5, 96]) == [2.5, 3.25, 7.5]
    assert positions(encoder, [-1e9, 128, 129, 1e9]) == [0, 8, 8, 8]


@pytest.mark.parametrize("numbers", [[7.0] * 9, [0.1] * 9, [NAN] * 9], ids=["7", "0.1", "missing"])
def test_columns_without_variation_are_finite(numbers: list[float]) -> None:
    encoder = encoder_of_numbers(numbers, bins=4)
    known = encoded(encoder, [numbers[0], numbers[0]])
    assert known.numbers.tolist() == [[0.0], [0.0]]
    other = encoded(encoder, [-5.0, 5.0])
    for tensor in (other.numbers, other.positions):
        assert torch.isfinite(tensor).all()
        assert tensor.abs().max() < 100


@pytest.mark.parametrize(
    "levels", [("1", "2"), ("1", "2", "x"), ("1", "2", "nan"), ("1", "2", "inf")]
)
def test_other_levels_are_categories_alone(levels: tuple[str, ...]) -> None:
    columns = (Column("c", "categorical", levels), Column("y", "continuous"))
    table = Table.from_values(columns, np.tile([[0.0, 1.0], [1.0, 2.0]], (4, 1)), 1)
    encoder = Encoder.from_table(table, consecutive(6, 1, 1), FOUR_BINS)
    assert encoder.numeric == []
    assert encoder.encode(table).numbers.shape == (8, 0)


def test_labels_are_standardised_by_the_train_rows() -> None:
    truth = np.array([1.0, 3.0, 5.0, 100.0, 100.0])
    table = table_of(np.zeros((5, 1)), truth)
    encoder = Encoder.from_table(table, consecutive(3, 1, 1), FOUR_BINS)
    labels = encoder.labels(table, np.arange(5)).numpy()
    assert np.allclose(labels[:, 0], (truth - 3) / np.std([1, 3, 5]))
    assert np.allclose(encoder.statistics.original(labels[:, 0], 1), truth)


@pytest.mark.parametrize("column", [1, 2], ids=["number", "grade"])
def test_inductive_statistics_are_of_train_rows(column: int) -> None:
    table = mixed_table(rows=40)
    split = first_split(table)
    cells = table.numbers(column)
    cells[split.test] = 1.0
    other = table.with_numbers(column, cells)
    for transductive in (False, True):
        settings = FOUR_BINS.changed(transductive=transductive)
        first = Encoder.from_table(table, split, settings)
        second = Encoder.from_table(other, split, settings)
        assert np.array_equal(first.statistics.scale, second.statistics.scale) != transductive
        assert np.array_equal(first.means, second.means) != transductive
