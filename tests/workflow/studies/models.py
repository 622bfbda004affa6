"""Small trained models that the tests of probes share."""

from functools import cache
from typing import Any

import numpy as np

from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.interface import Resources
from npt.nn.learner import NPTLearner
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.table import Column, Split, Table, Task
from tests.conftest import SMALL_NPT, first_split, make_table

LOOKUP = NPTSettings(
    width=8,
    layers=2,
    heads=2,
    updates=700,
    batch_rows=32,
    evaluate_every=6,
    learning_rate=0.005,
    schedule_share=0.7,
    feature_mask=0.0,
    tradeoff_start=0.0,
    attention_dropout=0.0,
    hidden_dropout=0.0,
    lookup="original",
)


def fitted(settings: NPTSettings, table: Table, split: Split) -> TrainedNPT:
    """A network that was trained on the blind table."""
    learner = NPTLearner(settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    return learner.trained


@cache
def small_npt(task: Task, **changes: Any) -> tuple[TrainedNPT, Table, Split]:
    """A small network, its table and its split; tests that change its weights copy it."""
    table = make_table(task)
    split = first_split(table)
    return fitted(SMALL_NPT.changed(**changes), table, split), table, split


def unrelated(rows: int = 1500) -> tuple[Table, Split]:
    """A target that is independent of the features, so that it can be looked up only."""
    values = np.random.default_rng(0).normal(size=(rows, 7))
    columns = [Column(f"x{j}", "continuous") for j in range(6)]
    table = Table.from_values([*columns, Column("y", "continuous")], values, 6)
    return table, splits(table, SplitRule(folds=5, used=1))[0]


@cache
def lookup_npt(rows: int = 1500, **changes: Any) -> tuple[TrainedNPT, Table, Split]:
    """A network of the lookup task, on the whole table, where duplicates show test targets."""
    table, split = unrelated(rows)
    trained = fitted(LOOKUP.changed(**changes), table, split)
    return trained.with_table(table, split), table, split
