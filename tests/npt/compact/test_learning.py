"""That it learns, and that it uses the labels of other rows where they help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.compact.data import LabelledRows, TrainingRows
from npt.compact.settings import CompactSettings
from npt.compact.training import CompactTraining, build_model
from npt.table import Column, Table, Task
from tests.npt.compact.tables import (
    CPU,
    PLAIN,
    SEED,
    consecutive,
    mixed_table,
    started,
)

LEARNING = PLAIN.changed(members=1, width=16, token_width=16, bins=16, weight_decay=0.0, warmup=0.1)


@pytest.mark.parametrize(("task", "updates"), [("regression", 100), ("multiclass", 200)])
def test_it_overfits_sixteen_rows(task: Task, updates: int) -> None:
    settings = LEARNING.changed(updates=updates, learning_rate=0.03)
    table = mixed_table(task, rows=20)
    training = started(settings, table, consecutive(16, 2, 2)).training
    loss = np.inf
    for number in range(1, settings.updates + 1):
        loss = training.update(number)
    assert loss < 1e-3


KEYS, COPIES = 8, 4
TWINS = LEARNING.changed(layers=1, updates=80, learning_rate=0.02)


class Lookup:
    """Tables of groups of rows with one label each; groups and labels are new in every table.

    Rows of a group have the same category, or points near each other.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.generator = np.random.default_rng(1)
        self.groups = np.tile(np.arange(KEYS), COPIES)
        levels = tuple("abcdefgh")
        self.columns = [Column("y", "continuous")]
        if kind == "categories":
            self.columns.append(Column("key", "categorical", levels))
        else:
            self.columns += [Column("x0", "continuous"), Column("x1", "continuous")]
        self.start = started(TWINS, self.table(), consecutive(KEYS * COPIES - 2, 1, 1))

    def table(self) -> Table:
        labels = self.generator.normal(size=KEYS)[self.groups]
        features = self.groups[:, None].astype(float)
        if self.kind == "points":
            centres = self.generator.normal(size=(KEYS, 2))
            noise = 0.01 * self.generator.normal(size=(KEYS * COPIES, 2))
            features = centres[self.groups] + noise
        return Table.of(self.columns, np.column_stack([labels, features]), 0)

    def draw(self) -> TrainingRows:
        table = self.table()
        labels = torch.from_numpy(table.truth).float()[:, None]
        features = self.start.encoder.encode(table)
        rows = LabelledRows(features, labels, torch.ones(len(labels)))
        return replace(self.start.data, train=rows)


def lookup_error(kind: str, settings: CompactSettings) -> float:
    """Squared error on 20 tables that were not trained on, relative to that of a constant."""
    lookup = Lookup(kind)
    model = build_model(lookup.start.encoder, settings, SEED, CPU)
    training = CompactTraining(model, lookup.draw(), settings, SEED)
    for number in range(1, settings.updates + 1):
        training.data = lookup.draw()
        training.update(number)
    model.eval()
    own = torch.eye(KEYS * COPIES, dtype=torch.bool)
    errors = 0.0
    of_constant = 0.0
    for _ in range(20):
        table = lookup.draw()
        with torch.no_grad():
            outputs = model.leave_one_out(table.train.features, table.train.labels, None, own)
        errors += float((outputs - table.train.labels).square().mean())
        of_constant += float(table.train.labels.square().mean())
    return errors / of_constant


@pytest.mark.parametrize("kind", ["categories", "points"])
def test_labels_of_others_solve_lookup(kind: str) -> None:
    assert lookup_error(kind, TWINS) < 0.3


@pytest.mark.parametrize("blind", ["labels_of_others", "between_datapoints"])
@pytest.mark.parametrize("kind", ["categories", "points"])
def test_blind_twins_cannot_solve_lookup(kind: str, blind: str) -> None:
    assert lookup_error(kind, TWINS.changed(updates=60, **{blind: False})) > 0.9
