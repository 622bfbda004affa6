"""A trained compact NPT with the table whose rows it predicts and attends to.

N rows of the table, K members, m rows of the context, d columns with the target, C length of a
label.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Encoder, Features, Rows
from npt.compact.copying import REACHES, mean_distance
from npt.compact.model import CompactNPT, Context
from npt.compact.settings import CompactSettings
from npt.compact.training import (
    CompactTraining,
    LabelledRows,
    TrainingRows,
    predict,
    shown_labels,
)
from npt.data.encoding import Statistics
from npt.errors import Infeasible, UserError
from npt.interface import Prediction
from npt.metrics import negative_log_likelihoods
from npt.nn.engine import Training
from npt.nn.trained_network import TrainedNetwork, build_model, decoded
from npt.seeding import generator_for
from npt.table import ALL_ROWS, Split, Table, Task

FEWEST_ROWS = 2  # a row is trained beside another one


@dataclass(frozen=True)
class TrainedCompactNPT(TrainedNetwork):
    """A network with the table whose train rows it attends to; nothing in it changes.

    Predictions are computed in double precision, so that those of a row are the same to many
    digits, whichever rows it is predicted with.

    Attributes:
        model: Network in evaluation mode, in single precision.
        encoder: Encoding of the columns.
        table: Table of the context and of the rows to predict, without test targets.
        context_rows: Row numbers (m,) of the context.
        split: Train, validation and test rows of the table, for the lookup task.
        shows_labels: Whether the context shows its labels; without, they are zeros.
    """

    model: CompactNPT
    encoder: Encoder
    table: Table
    context_rows: np.ndarray
    settings: CompactSettings
    seed: int
    split: Split | None = None
    shows_labels: bool = True

    @classmethod
    def untrained(
        cls,
        settings: CompactSettings,
        device: torch.device,
        table: Table,
        split: Split,
        seed: int,
    ) -> TrainedCompactNPT:
        """A network with initial weights, whose context is train rows."""
        if settings.lookup == "add_one" and table.task != "regression":
            raise UserError("lookup: add_one is for regression")
        encoder = Encoder.from_table(table, split, settings)
        train = table.labelled(split.train)
        return cls(
            model=build_model(CompactNPT, seed, device, encoder, settings).eval(),
            encoder=encoder,
            table=table,
            context_rows=sampled(train, settings.context_rows, seed, count=0),
            settings=settings,
            seed=seed,
            split=split,
        )

    def training(
        self, weights: np.ndarray | None = None, stop_at: Sequence[int] | None = None
    ) -> CompactTraining:
        """The training on the train rows.

        Args:
            weights: Weight of every row of the table (N,); None weighs all alike.
            stop_at: Number of updates of each member, instead of validation rows.

        Raises:
            Infeasible: There are too few rows with known targets.
        """
        data = self.training_rows(weights)
        if len(data.train) < FEWEST_ROWS:
            raise Infeasible(
                f"{len(data.train)} train rows have a known target; {FEWEST_ROWS} are needed"
            )
        if not (stop_at or len(data.validation)):
            raise Infeasible("no validation row has a known target")
        return CompactTraining(self.model, data, self.settings, self.seed, stop_at)

    def finished(self, training: Training) -> tuple[TrainedCompactNPT, float]:
        """The network with copying, where that lowers the validation loss."""
        return self.with_copying()

    def chosen(self, training: Training) -> dict[str, object]:
        """The updates of each member's weights."""
        return {"updates": training.best_updates}

    def training_rows(self, weights: np.ndarray | None = None) -> TrainingRows:
        """Rows of the table with known targets, in single precision.

        Args:
            weights: Weight of every row of the table (N,); None weighs all alike.
        """
        split = self.split
        assert split is not None
        if weights is None:
            weights = np.ones(self.table.rows)

        def labelled(rows: np.ndarray) -> LabelledRows:
            return LabelledRows(
                features=self.encoder.encode(self.table, rows).to(self.device, torch.float32),
                labels=self.encoder.labels(self.table, rows).to(self.device),
                weights=torch.from_numpy(weights[rows]).float().to(self.device),
            )

        train = self.table.labelled(split.train)
        validation = self.table.labelled(split.validation)
        evaluated = sampled(validation, self.settings.evaluated_rows, self.seed, count=1)
        return TrainingRows(labelled(train), labelled(evaluated), labelled(self.context_rows))

    @property
    def task(self) -> Task:
        """Task of the target column."""
        return self.table.task

    @property
    def target(self) -> int:
        """Index of the target column."""
        return self.encoder.target

    @property
    def statistics(self) -> Statistics:
        """Centre and scale of the columns of the training table."""
        return self.encoder.statistics

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict rows, none of which is in the context but in the lookup task."""
        outputs = self.context_labels.new_empty(
            self.settings.members, len(rows), self.encoder.classes
        )
        for indices, model in self.in_contexts(rows):
            features = self.features(self.table, rows[indices])
            outputs[:, torch.from_numpy(indices)] = model.outputs(features)
        return self.decode(outputs)

    def in_contexts(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, TrainedCompactNPT]]:
        """Indices of some rows, with the network in whose context these are predicted."""
        if self.settings.lookup == "off":
            yield np.arange(len(rows)), self
            return
        parts = self.parts
        for part in np.unique(parts[rows]):
            indices = np.flatnonzero(parts[rows] == part)
            yield indices, replace(self, context_rows=np.flatnonzero(parts == part))

    def decode(self, outputs: Tensor) -> Prediction:
        """Outputs (K, n, C) to class probabilities or values in original units."""
        return Prediction(decoded(self, outputs).mean(0))

    @torch.no_grad()
    def outputs(self, features: Features) -> Tensor:
        """Outputs (K, n, C) of rows in the whole context: logits, or standardised values."""
        return predict(self.precise, features, self.context)

    def features(self, table: Table, rows: Rows = ALL_ROWS) -> Features:
        """Cells of rows of a table with the same columns, in double precision."""
        return self.encoder.encode(table, rows).to(self.device, torch.float64)

    @cached_property
    def precise(self) -> CompactNPT:
        """The network in double precision."""
        return copy.deepcopy(self.model).double()

    @cached_property
    def context_features(self) -> Features:
        """Cells of the context, in double precision."""
        return self.features(self.table, self.context_rows)

    @cached_property
    def parts(self) -> np.ndarray:
        """Part (N,) of every row of the table, in the codes of a split."""
        assert self.split is not None
        return self.split.part()

    @cached_property
    def context_labels(self) -> Tensor:
        """Labels (m, C) that the context shows, in double precision; zeros where it shows none."""
        count = len(self.context_rows)
        labels = torch.zeros(count, self.encoder.classes, dtype=torch.float64, device=self.device)
        truth = self.table.numbers(self.target, self.context_rows)
        known = np.flatnonzero(~np.isnan(truth))
        if self.shows_labels and len(known):
            known_labels = self.encoder.labels(self.table, self.context_rows[known])
            shown_known = shown_labels(known_labels.to(labels), self.settings)
            labels[torch.from_numpy(known).to(self.device)] = shown_known
        return labels

    @cached_property
    @torch.no_grad()
    def context(self) -> Context:
        """Keys and values of the context, in double precision."""
        return self.precise.context_with_residuals(self.encoded_context, self.context_labels)

    @cached_property
    def encoded_context(self) -> Tensor:
        """Encoded rows (K, m, r) of the context, in double precision."""
        return self.encoded(self.context_rows)

    @torch.no_grad()
    def encoded(self, rows: np.ndarray) -> Tensor:
        """Encoded rows (K, n, r), in double precision."""
        return self.precise.encode(self.features(self.table, rows))

    def with_copying(self) -> tuple[TrainedCompactNPT, float]:
        """The network with the reach of copying that lowers the loss on validation rows most.

        It copies nothing if no reach lowers the loss by more than a standard error.

        Returns:
            The network, and its mean loss: negative log-likelihood, or squared error in units of
            the target's variance.
        """
        assert self.split is not None
        rows = self.table.labelled(self.split.validation)
        settings = self.settings
        sees_labels = settings.labels_of_others and settings.between_datapoints
        has_others = len(self.context_rows) > 1 and settings.lookup == "off"
        best = self
        before = lowest = self._losses(rows)
        largest_gain = 0.0
        if settings.copies and sees_labels and has_others:
            unit = mean_distance(self.encoded_context)
            for factor in REACHES:
                model = copy.deepcopy(self.model)
                model.reach.copy_(factor * unit.float())
                copying = replace(self, model=model)
                losses = copying._losses(rows)
                gains = before - losses
                error = gains.std() / np.sqrt(len(gains))
                if gains.mean() > max(error, largest_gain):
                    best = copying
                    lowest = losses
                    largest_gain = gains.mean()
        unit_of_loss = self.statistics.scale[self.target] ** 2
        return best, float(lowest.mean() / unit_of_loss)

    def _losses(self, rows: np.ndarray) -> np.ndarray:
        """Squared error, or negative log-likelihood (n,) of each row."""
        truth = self.table.truth[rows]
        predicted = self.predict(rows).values
        if self.task == "regression":
            return (predicted - truth) ** 2
        return negative_log_likelihoods(truth, predicted)


def sampled(rows: np.ndarray, limit: int | None, seed: int, count: int) -> np.ndarray:
    """At most `limit` of some rows, drawn at random, in their order."""
    if limit is None or len(rows) <= limit:
        return rows
    generator = generator_for(seed, "evaluation", torch.device("cpu"), count)
    chosen = torch.randperm(len(rows), generator=generator)[:limit]
    return rows[chosen.sort().values.numpy()]
