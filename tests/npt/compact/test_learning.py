"""That it learns, and that it uses the labels of other rows where they help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.compact.columns import Encoder
from npt.compact.data import LabelledRows
from npt.compact.settings import CompactSettings
from npt.table import Table, Task
from tests.npt.compact.tables import (
    PLAIN,
    consecutive,
    mixed_table,
    started,
    table_of,
)

LEARNING = PLAIN.changed(members=1, width=16, token_width=16, bins=16, weight_decay=0.0, warmup=0.1)


@pytest.mark.parametrize(("task", "updates"), [("regression", 100), ("multiclass", 200)])
def test_it_overfits_sixteen_rows(task: Task, updates: int) -> None:
    settings = LEARNING.changed(updates=updates, learning_rate=0.03)
    table = mixed_table(task, rows=20)
    training = started(settings, table, consecutive(16, 2, 2))
    loss = np.inf
    for number in range(1, settings.updates + 1):
        loss = training.update(number)
    assert loss < 1e-3


GROUPS, ROWS = 8, 32
TWINS = LEARNING.changed(layers=1, updates=80, learning_rate=0.02)


def lookup_table(generator: np.random.Generator) -> Table:
    """Groups of rows near a point, with a label each; points and labels are new in every table."""
    groups = np.arange(ROWS) % GROUPS
    points = generator.normal(size=(GROUPS, 2))[groups]
    noise = 0.01 * generator.normal(size=(ROWS, 2))
    return table_of(points + noise, generator.normal(size=GROUPS)[groups])


def lookup_error(settings: CompactSettings) -> float:
    """Squared error on 20 tables that were not trained on, relative to that of a constant."""
    generator = np.random.default_rng(1)
    split = consecutive(ROWS - 2, 1, 1)
    table = lookup_table(generator)
    encoder = Encoder.from_table(table, split, settings)
    training = started(settings, table, split)

    def new_rows() -> LabelledRows:
        table = lookup_table(generator)
        labels = torch.from_numpy(table.truth).float()[:, None]
        return LabelledRows(encoder.encode(table), labels, torch.ones(ROWS))

    for number in range(1, settings.updates + 1):
        training.data = replace(training.data, train=new_rows())
        training.update(number)
    model = training.model.eval()
    is_itself = torch.eye(ROWS, dtype=torch.bool)
    errors = []
    squares = []
    for rows in (new_rows() for _ in range(20)):
        with torch.no_grad():
            outputs = model.leave_one_out(rows.features, rows.labels, None, is_itself)
        errors.append((outputs - rows.labels).square().mean())
        squares.append(rows.labels.square().mean())
    return float(sum(errors) / sum(squares))


def test_labels_of_others_solve_lookup() -> None:
    assert lookup_error(TWINS) < 0.3


@pytest.mark.parametrize("blind", ["labels_of_others", "between_datapoints"])
def test_blind_twins_cannot_solve_lookup(blind: str) -> None:
    assert lookup_error(TWINS.changed(updates=60, **{blind: False})) > 0.9
