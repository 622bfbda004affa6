"""Baselines under a probe: those that keep train rows predict from other rows in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from baselines.stored_rows import StoredRows
from baselines.trained import TrainedBaseline
from npt.perturbation import InputLayout
from npt.probing import Duplicates, QueryGroup, RowAttention, RowProbe
from npt.table import PARTS, Split, Table

CELLS = 10_000_000  # of the contexts of a group's queries


@dataclass(frozen=True)
class StoredRowProbe(RowProbe):
    """A probe of a model whose context are its train rows."""

    trained: TrainedBaseline

    @property
    def context(self) -> np.ndarray:
        """Row numbers (m,) of the stored rows."""
        return self.trained.data.train

    @property
    def stored(self) -> StoredRows:
        """The stored rows (m)."""
        return self.trained.predictor.stored

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Features (n, F) of query rows."""
        return self.trained.data.features[rows]

    def query_groups(self, rows: np.ndarray) -> Iterator[StoredRowQueries]:
        """Groups of rows, whose context are the stored rows."""
        stored = self.stored
        columns = self.trained.data.columns
        size = max(1, CELLS // ((1 + len(self.context)) * (max(columns) + 2)))
        for start in range(0, len(rows), size):
            chunk = rows[start : start + size]
            contexts = [self.context] * len(chunk)
            yield StoredRowQueries(chunk, contexts, self.trained, self.features(chunk), stored)

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Absolute weights of the stored rows, as a single head that sums to one.

        A model that retrieves nothing has no head.
        """
        trained = self.trained
        signed = trained.predictor.weights(self.stored, self.features(rows), trained.parameters)
        has_head = bool(signed.any())
        weights = np.abs(signed)
        weights[weights.sum(1) == 0] = 1.0  # no row counts more than another
        weights = weights / weights.sum(1, keepdims=True)
        for row, row_weights in zip(rows.tolist(), weights, strict=True):
            heads = {0: row_weights[None]} if has_head else {}
            yield RowAttention(row, self.context, heads)

    def before_training(self) -> StoredRowProbe | None:
        """The same model before it learns; None if it learns nothing."""
        trained = self.trained
        if trained.baseline.untrained is None:
            return None
        parameters = {**trained.parameters, **trained.baseline.untrained}
        predictor = trained.baseline.fit(trained.data, parameters, trained.seed, trained.resources)
        return StoredRowProbe(replace(trained, model=predictor, parameters=parameters))

    def with_table(self, table: Table, split: Split) -> StoredRowProbe:
        """The model itself, which shows no duplicates."""
        return self

    def without_duplicates(self) -> StoredRowProbe:
        """The model on its train rows."""
        return StoredRowProbe(self.trained)

    def among_duplicates(self, lookup: str, rows: np.ndarray, shown: Duplicates) -> DuplicatesProbe:
        """The model whose stored rows are duplicates of test rows (n,), as `lookup` shows them."""
        return DuplicatesProbe(self.trained, lookup, rows, shown)


@dataclass(frozen=True)
class DuplicatesProbe(StoredRowProbe):
    """A probe of a model among duplicates of its query rows, which it was not trained on.

    Attributes:
        variant: Variant of the lookup task.
        originals: Row numbers (n,) of the originals, ascending.
        shown: Their features, their duplicates, and the targets that these show.
    """

    variant: str
    originals: np.ndarray
    shown: Duplicates

    @property
    def lookup(self) -> str:
        """Variant of the lookup task."""
        return self.variant

    @property
    def context(self) -> np.ndarray:
        """Numbers of the duplicates."""
        return len(self.trained.data.features) + self.originals

    @property
    def stored(self) -> StoredRows:
        """The duplicates."""
        return StoredRows(self.shown.duplicates, self.shown.shown)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Features (n, F) of originals."""
        return self.shown.originals[np.searchsorted(self.originals, rows)]

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Values (n,) of originals, from all duplicates."""
        return self.trained.predict_from(self.stored, self.features(rows))

    def with_table(self, table: Table, split: Split) -> DuplicatesProbe:
        """The same duplicates, which show the targets of a table."""
        truth = table.truth[self.originals]
        targets = self.trained.statistics.standardised(truth, table.target)
        shown = targets + ("add_one" in self.variant)
        return replace(self, shown=replace(self.shown, shown=shown))

    def swept_values(self, table: Table, count: int) -> np.ndarray:
        """Values from the largest target that is shown to the smallest."""
        shown = self.shown.shown
        standardised = np.linspace(shown.max(), shown.min(), count)
        return self.trained.statistics.original(standardised, table.target)


@dataclass(frozen=True)
class StoredRowQueries(QueryGroup):
    """Query rows whose context are stored rows.

    Attributes:
        features: Features (q, F) of the queries.
        stored: The stored rows (m).
    """

    trained: TrainedBaseline
    features: np.ndarray
    stored: StoredRows

    def layout(self, query: int) -> InputLayout:
        """Of a query and the stored rows, which are train rows."""
        parts = np.full(1 + len(self.stored.labels), PARTS.index("train"))
        parts[0] = PARTS.index("test")
        target = max(self.trained.data.columns) + 1  # features of a table without it come first
        return InputLayout(parts, target + 1, target)

    def predict_from(self, queries: Sequence[int], cells: Sequence[np.ndarray]) -> np.ndarray:
        """Prediction of each of some queries from stored rows with other cells."""
        columns = self.trained.data.columns
        predictions = []
        for query, sources in zip(queries, cells, strict=True):
            rows = sources[1:] - 1
            if rows.shape[1] == 1:
                stored = self.stored.take(rows[:, 0])
            else:
                features = np.take_along_axis(self.stored.features, rows[:, columns], 0)
                labels = self.stored.labels[rows[:, -1]]
                stored = replace(self.stored, features=features, labels=labels)
            (prediction,) = self.trained.predict_from(stored, self.features[[query]])
            predictions.append(prediction)
        return np.stack(predictions)
