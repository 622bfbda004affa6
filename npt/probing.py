"""What a probe asks of a trained model: predictions while other rows change, and attention.

Most questions are one: to predict a query row from cells of itself and of its context. A model says
what the context of its queries is, and predicts them from such cells; the rest is here.

Contexts consist of row numbers of the table of N rows. Duplicates of the lookup task are numbered
from N: that of row i is N + i.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from npt.interface import TrainedModel
from npt.perturbation import InputLayout, Perturbation
from npt.table import Split, Table, Task

if TYPE_CHECKING:
    from npt.data.encoding import Statistics


class RowModel(TrainedModel, Protocol):
    """A trained model that predicts a row from other rows."""

    @property
    def task(self) -> Task:
        """Task of the target column."""
        ...

    @property
    def target(self) -> int:
        """Index of the target column."""
        ...

    @property
    def statistics(self) -> Statistics:
        """Centre and scale of the columns of the training table."""
        ...

    @property
    def transductive(self) -> bool:
        """Whether features are standardised over all rows, or the train rows."""
        ...

    @property
    def seed(self) -> int:
        """Seed of the training."""
        ...


@dataclass(frozen=True)
class QueryGroup(ABC):
    """Query rows that are predicted together, each among some rows of its own context.

    Attributes:
        rows: Row numbers (q,) of the queries.
        contexts: Row numbers (m,) of each query's context, which the query is not part of.
    """

    rows: np.ndarray
    contexts: Sequence[np.ndarray]

    @abstractmethod
    def layout(self, query: int) -> InputLayout:
        """Of the input of a query: itself, then its context."""

    def is_unchanged_by(self, perturbation: Perturbation) -> bool:
        """Whether there is nothing to permute, so that predictions are exactly those of `predict`.

        A share of 0 is no such case: it is the control of the procedure.
        """
        chosen = perturbation.chosen_rows(self.layout(0))
        return not chosen[1:].any()

    @abstractmethod
    def predict_from(self, queries: Sequence[int], cells: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions (k,), or probabilities (k, C), of k queries from other cells.

        Args:
            queries: Indices among the group's rows.
            cells: For each of them, which row of its input every cell comes from (1 + l, d), or
                (1 + l, 1) for whole rows. The first row is the query, which is intact.
        """

    def predict(self, queries: Sequence[int], kept: Sequence[np.ndarray]) -> np.ndarray:
        """Predictions (k,), or probabilities (k, C), of k queries.

        Args:
            queries: Indices among the group's rows.
            kept: For each of them, ascending indices of its context that remain, at least one.
        """
        cells = [np.append(0, remaining + 1)[:, None] for remaining in kept]
        return self.predict_from(queries, cells)


@dataclass(frozen=True)
class RowAttention:
    """Attention of a query row to its context.

    Attributes:
        row: Row number of the query.
        context: Row numbers (m,) of the context.
        weights: Weights (H, m) of the heads between datapoints, by the index of their layer.
    """

    row: int
    context: np.ndarray
    weights: Mapping[int, np.ndarray]


@dataclass(frozen=True)
class Intervention:
    """Predictions of n rows while the target on their own duplicate is swept.

    Attributes:
        values: Values (K,) of the target, in original units.
        predictions: Predictions (n, K) of the rows, in original units.
        others: Largest change (n,) that a sweep caused in the prediction of any other row.
        shift: How much larger than its row's the target on a duplicate is.
    """

    values: np.ndarray
    predictions: np.ndarray
    others: np.ndarray
    shift: float


@dataclass(frozen=True)
class Duplicates:
    """The lookup task for methods that take numbers alone.

    Attributes:
        originals: Features (n, F) of the original rows.
        duplicates: Features (n, F) of their duplicates.
        shown: Standardised targets (n,) that the duplicates reveal.
    """

    originals: np.ndarray
    duplicates: np.ndarray
    shown: np.ndarray


@dataclass(frozen=True)
class Probe:
    """A probe of a model that predicts each row by itself."""

    trained: TrainedModel

    @property
    def lookup(self) -> str:
        """Variant of the lookup task, such as `original`; `off` for a model of the plain task."""
        return "off"

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Predictions (n,), or probabilities (n, C), of test rows."""
        return self.trained.predict(rows).values

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> np.ndarray:
        """The same, each with the other rows perturbed by independent draws; it stays intact."""
        return self.predict(rows)


@dataclass(frozen=True)
class RowProbe(Probe, ABC):
    """A probe of a model that predicts a row from other rows.

    In the lookup task rows have duplicates with their targets in the context.
    """

    trained: RowModel

    @abstractmethod
    def query_groups(self, rows: np.ndarray) -> Iterator[QueryGroup]:
        """Groups that hold each of the test rows once, in any order."""

    @abstractmethod
    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Attention of each of the test rows, in any order."""

    @abstractmethod
    def before_training(self) -> RowProbe | None:
        """The same model as it was before it learned; None for one that learns nothing."""

    @abstractmethod
    def with_table(self, table: Table, split: Split) -> RowProbe:
        """The same model on another table, whose duplicates show the targets that it has.

        Baselines keep their stored rows, and those of the plain task ignore the table.
        """

    @abstractmethod
    def without_duplicates(self) -> RowProbe:
        """The same model with no target of a duplicate in its context."""

    def among_duplicates(self, lookup: str, rows: np.ndarray, shown: Duplicates) -> RowProbe:
        """A model of the plain task among duplicates of some rows (n,), as a variant shows them."""
        raise NotImplementedError(f"{type(self).__name__} has to be trained on the lookup task")

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> np.ndarray:
        """Predict test rows, each with its context perturbed by independent draws.

        Draws depend on the row, its context, the perturbation and the seed alone, not on what is
        predicted together.
        """
        by_row: dict[int, np.ndarray] = {}
        for group in self.query_groups(rows):
            numbers = group.rows.tolist()
            if group.is_unchanged_by(perturbation):
                predictions = self.predict(group.rows)
            else:
                cells = []
                for query, row in enumerate(numbers):
                    cells.append(perturbation.sources(seed, row, group.layout(query)))
                predictions = group.predict_from(range(len(numbers)), cells)
            by_row.update(zip(numbers, predictions, strict=True))
        return np.stack([by_row[row] for row in rows.tolist()])

    def intervention(
        self, table: Table, split: Split, rows: np.ndarray, sweep: int = 10
    ) -> Intervention:
        """Let the duplicate of one row at a time show `sweep` values over the range of targets.

        Args:
            table: Table whose targets the duplicates show.
            rows: Test rows (n,) with a known target.
        """
        values = self.swept_values(table, sweep)
        is_shifted = "add_one" in self.lookup  # targets are larger on duplicates
        shift = float(self.trained.statistics.scale[table.target]) if is_shifted else 0.0
        predictions = np.empty((len(rows), sweep))
        others = np.empty(len(rows))
        for number, row in enumerate(rows.tolist()):
            (group,) = self.query_groups(rows[[number]])
            (context,) = group.contexts
            originals = np.setdiff1d(context[context >= table.rows] - table.rows, split.validation)
            swept = np.empty((sweep, len(originals)))
            for index, value in enumerate(values - shift):
                targets = table.truth.copy()
                targets[row] = value
                changed = self.with_table(table.with_numbers(table.target, targets), split)
                swept[index] = changed.predict(originals)
            is_swept = originals == row
            predictions[number] = swept[:, is_swept][:, 0]
            others[number] = np.ptp(swept[:, ~is_swept], axis=0).max(initial=0.0)
        return Intervention(values, predictions, others, shift)

    def swept_values(self, table: Table, count: int) -> np.ndarray:
        """Values from the largest target of the table to the smallest."""
        return np.linspace(np.nanmax(table.truth), np.nanmin(table.truth), count)
