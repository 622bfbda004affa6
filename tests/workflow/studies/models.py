"""Small trained models that the tests of probes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from npt.data.declaration import SplitRule
from npt.data.encoding import Statistics, one_hot_features, statistics
from npt.data.splits import splits
from npt.interface import Prediction, Resources
from npt.nn.learner import NPTLearner
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.perturbation import InputLayout
from npt.probing import QueryGroup, RowAttention, RowProbe
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
    table = Table.of([*columns, Column("y", "continuous")], values, 6)
    return table, splits(table, SplitRule(folds=5, used=1))[0]


@cache
def lookup_npt(rows: int = 1500, **changes: Any) -> tuple[TrainedNPT, Table, Split]:
    """A network of the lookup task, on the whole table, where duplicates show test targets."""
    table, split = unrelated(rows)
    trained = fitted(LOOKUP.changed(**changes), table, split)
    return trained.with_table(table, split), table, split


@dataclass(frozen=True)
class NearestNeighbour:
    """Predicts the target of the nearest train row."""

    table: Table
    split: Split
    task: Task = "regression"
    transductive: bool = True
    seed: int = 0

    @property
    def target(self) -> int:
        return self.table.target

    @cached_property
    def statistics(self) -> Statistics:
        return statistics(self.table, self.split)

    @cached_property
    def features(self) -> np.ndarray:
        return one_hot_features(self.table, self.statistics)

    def nearest(self, row: int, context: np.ndarray) -> int:
        squared = ((self.features[context] - self.features[row]) ** 2).sum(1)
        return int(context[squared.argmin()])

    def predict(self, rows: np.ndarray) -> Prediction:
        nearest = [self.nearest(row, self.split.train) for row in rows.tolist()]
        return Prediction(self.table.truth[nearest])


@dataclass(frozen=True)
class NeighbourProbe(RowProbe):
    """What another model has to define for a deletion."""

    trained: NearestNeighbour

    def query_groups(self, rows: np.ndarray) -> Iterator[NeighbourQueries]:
        yield NeighbourQueries(rows, [self.trained.split.train] * len(rows), self.trained)

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        raise NotImplementedError

    def before_training(self) -> None:
        return None

    def with_table(self, table: Table, split: Split) -> RowProbe:
        raise NotImplementedError

    def without_duplicates(self) -> RowProbe:
        raise NotImplementedError


@dataclass(frozen=True)
class NeighbourQueries(QueryGroup):
    """Query rows among the train rows."""

    model: NearestNeighbour

    def layout(self, query: int) -> InputLayout:
        raise NotImplementedError

    def predict_from(self, queries: Sequence[int], cells: Sequence[np.ndarray]) -> np.ndarray:
        nearest = []
        for query, sources in zip(queries, cells, strict=True):
            context = self.contexts[query][sources[1:, 0] - 1]
            nearest.append(self.model.nearest(int(self.rows[query]), context))
        return self.model.table.truth[nearest]
