"""Trained baselines, as evaluators and probes use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from threadpoolctl import threadpool_limits

from baselines.baseline import Baseline, Predictor
from baselines.grids import Parameters
from baselines.search import Winner
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.data.encoding import Statistics
from npt.interface import Duplicates, Intervention, Prediction, Resources, RowAttention
from npt.perturbation import InputLayout, Perturbation
from npt.table import PARTS, Split, Table, Task


@dataclass(frozen=True)
class TrainedBaseline:
    """The winner of a search, with the data that it was fitted to.

    Attributes:
        transductive: Whether features are standardised over all rows, or the train rows.
        seed: Random state of the fit.
    """

    baseline: Baseline
    data: TrainingData
    statistics: Statistics
    target: int
    winner: Winner
    resources: Resources
    transductive: bool
    seed: int

    @property
    def device(self) -> str:
        """Device on which the model was fitted."""
        return self.resources.device

    @property
    def task(self) -> Task:
        """Task of the target column."""
        return self.data.task

    @property
    def parameters(self) -> Parameters:
        """Hyper-parameters of the winner, the fixed ones included."""
        return self.winner.parameters

    def predict(self, rows: np.ndarray) -> Prediction:
        """Probabilities of all classes (n, C), or values (n,) in original units."""
        return self._of_features(self.data.features[rows])

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict rows, none of them a train row, each with the train rows perturbed for it."""
        features = []
        for row in rows:
            of_row, _ = self._perturbed(perturbation, seed, int(row))
            features.append(of_row)
        return self._of_features(np.concatenate(features))

    def _of_features(self, features: np.ndarray) -> Prediction:
        with threadpool_limits(self.resources.threads):
            (predicted,) = self.winner.predictor(features, [self.parameters])
        return self.decode(predicted)

    def decode(self, predicted: np.ndarray) -> Prediction:
        """What a predictor returns, as probabilities of all classes or in original units."""
        values = self.data.over_all_classes(predicted)
        if self.data.is_regression:
            values = self.statistics.original(values, self.target)
        return Prediction(values)

    def _perturbed(
        self, perturbation: Perturbation, seed: int, row: int
    ) -> tuple[np.ndarray, StoredRows]:
        """Features (1, F) of a row, and the train rows as they are perturbed for it."""
        data = self.data
        numbers = np.concatenate([[row], data.train])  # the query comes first
        target_column = max(data.columns) + 1
        parts = np.full(len(numbers), PARTS.index("train"))
        parts[0] = PARTS.index("test")
        layout = InputLayout(parts, target_column + 1, target_column)
        sources = perturbation.sources(seed, row, 0, layout)  # (1 + m, d), indices of `numbers`
        of_features = numbers[sources[:, data.columns]]
        features = np.take_along_axis(data.features, of_features, 0)
        labels = data.train_labels[sources[1:, target_column] - 1]
        return features[:1], StoredRows(features[1:], labels)


@dataclass(frozen=True)
class TrainedRowModel(TrainedBaseline):
    """A trained model that predicts from stored train rows; all probes can examine it."""

    @cached_property
    def predictor(self) -> RowPredictor:
        """The trained model."""
        assert isinstance(self.winner.predictor, RowPredictor)
        return self.winner.predictor

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict rows, none of them a train row, each with the train rows perturbed for it."""
        predictions = []
        with threadpool_limits(self.resources.threads):
            for row in rows:
                features, stored = self._perturbed(perturbation, seed, int(row))
                predictions.append(self._from_rows(stored, features))
        return self.decode(np.concatenate(predictions))

    def query_groups(self, rows: np.ndarray) -> Iterator[StoredRowQueries]:
        """The rows as one group, whose context are the train rows."""
        yield StoredRowQueries(self, rows)

    def attention(self, rows: np.ndarray) -> Iterator[RowAttention]:
        """Absolute weights of the train rows, as a single head that sums to one.

        A model that retrieves nothing has no head.
        """
        features = self.data.features[rows]
        with threadpool_limits(self.resources.threads):
            signed = self.predictor.weights(self.data.stored_rows, features, self.parameters)
        if not signed.any():
            for row in rows.tolist():
                yield RowAttention(row, self.data.train, {})
            return
        weights = np.abs(signed)
        weights[weights.sum(1) == 0] = 1.0  # no row counts more than another
        weights = weights / weights.sum(1, keepdims=True)
        for row, of_row in zip(rows.tolist(), weights, strict=True):
            yield RowAttention(row, self.data.train, {0: of_row[None]})

    def before_training(self) -> TrainedRowModel | None:
        """The same model as it is before it learns; None if it learns nothing."""
        if self.baseline.untrained is None:
            return None
        parameters = {**self.parameters, **self.baseline.untrained}
        with threadpool_limits(self.resources.threads):
            predictor = self.baseline.fit(self.data, [parameters], self.seed, self.resources)
        return replace(self, winner=self._winner_of(predictor, parameters))

    def predict_from(self, stored: StoredRows, features: np.ndarray) -> np.ndarray:
        """Values (n,) in original units or probabilities (n, C), from some stored rows.

        Threads are those of the process: to limit them takes longer than a prediction.
        """
        return self.decode(self._from_rows(stored, features)).values

    def with_duplicates(self, lookup: str, rows: np.ndarray, shown: Duplicates) -> DuplicateReader:
        """The model whose stored rows are duplicates of test rows (n,), as `lookup` shows them."""
        return DuplicateReader(self, lookup, rows, shown)

    def _from_rows(self, stored: StoredRows, features: np.ndarray) -> np.ndarray:
        return self.predictor.predict_from(stored, features, self.parameters)

    def _winner_of(self, predictor: Predictor, parameters: Parameters) -> Winner:
        return replace(self.winner, predictor=predictor, parameters=parameters)


@dataclass(frozen=True)
class StoredRowQueries:
    """Query rows whose context are the stored train rows; see `QueryGroup`."""

    model: TrainedRowModel
    rows: np.ndarray

    @property
    def contexts(self) -> list[np.ndarray]:
        """Row numbers of the train rows, for each query."""
        return [self.model.data.train] * len(self.rows)

    def predict(self, queries: Sequence[int], kept: Sequence[np.ndarray]) -> np.ndarray:
        """Prediction of each of some queries from the kept train rows."""
        stored = self.model.data.stored_rows
        predictions = []
        for query, remaining in zip(queries, kept, strict=True):
            features = self.model.data.features[self.rows[[query]]]
            (prediction,) = self.model.predict_from(stored.take(remaining), features)
            predictions.append(prediction)
        return np.stack(predictions)


@dataclass(frozen=True)
class DuplicateReader:
    """A trained row model among duplicates of its query rows; see `LookupModel`.

    Attributes:
        lookup: Variant of the lookup task.
        rows: Row numbers (n,) of the originals.
        shown: Their features, their duplicates, and the targets that these show.
    """

    trained: TrainedRowModel
    lookup: str
    rows: np.ndarray
    shown: Duplicates

    @property
    def task(self) -> Task:
        """Task of the target column."""
        return self.trained.task

    @property
    def target(self) -> int:
        """Index of the target column."""
        return self.trained.target

    @property
    def statistics(self) -> Statistics:
        """Centre and scale of the columns of the training table."""
        return self.trained.statistics

    @property
    def transductive(self) -> bool:
        """Whether features are standardised over all rows, or the train rows."""
        return self.trained.transductive

    @property
    def device(self) -> str:
        """Device on which the model was fitted."""
        return self.trained.device

    def predict(self, rows: np.ndarray) -> Prediction:
        """Values (n,) of originals, from all duplicates."""
        return Prediction(self._predicted(self.shown.shown)[self._indices(rows)])

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """That of the model without duplicates."""
        return self.trained.predict_perturbed(rows, perturbation, seed)

    def with_table(self, table: Table, split: Split) -> DuplicateReader:
        """The model itself; its duplicates show what they show."""
        return self

    def without_duplicates(self) -> TrainedRowModel:
        """The model on its train rows."""
        return self.trained

    def intervention(self, rows: np.ndarray, sweep: int = 10) -> Intervention:
        """Set the target of one duplicate at a time to values over the range of those shown."""
        targets = self.shown.shown
        values = np.linspace(targets.max(), targets.min(), sweep)
        predictions = np.empty((len(rows), sweep))
        others = np.empty(len(rows))
        for number, index in enumerate(self._indices(rows)):
            swept = np.empty((sweep, len(targets)))
            for place, value in enumerate(values):
                changed = targets.copy()
                changed[index] = value
                swept[place] = self._predicted(changed)
            predictions[number] = swept[:, index]
            changes = np.ptp(swept, axis=0)
            changes[index] = 0.0
            others[number] = changes.max()
        return Intervention(self.statistics.original(values, self.target), predictions, others)

    def _predicted(self, targets: np.ndarray) -> np.ndarray:
        """Values of all originals while the duplicates show these standardised targets."""
        stored = StoredRows(self.shown.duplicates, targets)
        return self.trained.predict_from(stored, self.shown.originals)

    def _indices(self, rows: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.rows, rows)
