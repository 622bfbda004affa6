"""Cells to tokens, against a slow reference for every cell."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact.columns import Encoder, Features
from npt.compact.embedding import CellEmbedding
from npt.compact.settings import CompactSettings
from npt.table import Table
from tests.conftest import first_split
from tests.npt.compact.tables import CPU, TINY, mixed_table

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


def numbers_of(table: Table, column: int) -> np.ndarray:
    numbers = table.numbers(column)
    if column == 2:
        numbers = LEVELS[numbers.astype(int)]
    return numbers


def shares_below(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Share of each bin that lies below each number (n, b), by its definition."""
    known = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)))
    shares = np.zeros((len(numbers), bins))
    for row, number in enumerate(numbers):
        for bin_index in range(len(edges) - 1):
            low = edges[bin_index]
            width = edges[bin_index + 1] - low
            shares[row, bin_index] = min(max((number - low) / width, 0), 1)
    return shares


def reference(embedding: CellEmbedding, functions: dict[int, np.ndarray]) -> Tensor:
    """Tokens (K, n, d + 1, e), cell by cell."""
    weight = embedding.weight.detach()
    slope = embedding.slope.detach()
    levels = embedding.levels.weight.detach()
    starts = np.cumsum([0, *SIZES])
    tokens = torch.zeros(MEMBERS, TABLE.rows, 4, weight.shape[-1], dtype=torch.float64)
    for member in range(MEMBERS):
        for row in range(TABLE.rows):
            for place, column in enumerate((1, 2, 3)):
                token = embedding.offset.detach()[member, 0, place].clone()
                if math.isnan(TABLE.numbers(column)[row]):
                    tokens[member, row, place] = embedding.hidden.detach()[member, 0, place]
                    continue
                if column in NUMBERS:
                    numbers = numbers_of(TABLE, column)
                    number = (numbers[row] - np.nanmean(numbers)) / np.nanstd(numbers)
                    j = NUMBERS[column]
                    token += number * slope[member, j, 0]
                    for index, value in enumerate(functions[column][row]):
                        token += value * weight[member, j, index]
                if column in CATEGORIES:
                    code = int(TABLE.numbers(column)[row])
                    token += levels[member, starts[CATEGORIES[column]] + code]
                tokens[member, row, place] = token
            tokens[member, row, 3] = embedding.target.detach()[member, 0, 0]
    return tokens


def test_piecewise_linear_tokens_equal_the_reference() -> None:
    embedding, features = build(TINY)
    functions = {}
    for column in NUMBERS:
        numbers = numbers_of(TABLE, column)
        shares = shares_below(np.nan_to_num(numbers, nan=0.0), TINY.bins)
        known = ~np.isnan(numbers)
        edges = numbers[known]
        shares[known] = shares_below(edges, TINY.bins)
        functions[column] = shares - shares[known].mean(0)
    expected = reference(embedding, functions)
    assert torch.allclose(embedding(features), expected, atol=1e-5)


def test_periodic_tokens_are_of_cosines() -> None:
    embedding, features = build(TINY.changed(number_embedding="periodic"))
    frequency = embedding.functions.frequency.numpy()
    phase = embedding.functions.phase.numpy()
    functions = {}
    for column, j in NUMBERS.items():
        numbers = numbers_of(TABLE, column)
        standardised = (numbers - np.nanmean(numbers)) / np.nanstd(numbers)
        periods = standardised[:, None] * frequency[j] + phase[j]
        functions[column] = np.cos(2 * np.pi * periods)
    expected = reference(embedding, functions)
    assert torch.allclose(embedding(features), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["piecewise", "periodic", "linear"])
def test_a_missing_cell_has_the_vector_of_its_column(kind: str) -> None:
    embedding, features = build(TINY.changed(number_embedding=kind))
    everything = torch.ones_like(features.missing)
    missing = replace(features, missing=everything)
    other = replace(
        missing,
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
        missing = replace(features, missing=features.missing | hidden[member])
        assert torch.equal(tokens[member], embedding(missing)[member])
