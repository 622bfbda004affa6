"""Compact NPT as a fitted model of an estimator.

N rows of the fit, m rows of the context, n rows to predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch

from npt.compact.columns import Encoder
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT, sampled
from npt.compact.training import CompactTraining, predict
from npt.data.encoding import Statistics
from npt.errors import UserError
from npt.estimator.model import (
    NO_ROWS,
    WEIGHTS,
    Arrays,
    Job,
    Model,
    ModelFacts,
    require_converged,
    tensors_of,
    weight_arrays,
)
from npt.nn.trained_network import build_model
from npt.table import Split, Table


@dataclass
class CompactModel(Model):
    """A trained compact NPT, whose table is the context alone."""

    architecture = "compact"
    trained: TrainedCompactNPT

    @classmethod
    def fit(cls, job: Job, settings: CompactSettings) -> Self:
        """Train on the train rows; then, if the job says so, on all rows for the best updates.

        Predicted rows attend to all rows, those of the validation included.
        """
        trained, training = _train(job, settings, job.split, None)
        require_converged(training.losses)
        trained, validation_loss = trained.with_copying()
        everything = np.arange(job.table.rows)
        if job.refit:
            split = Split(job.split.fold, everything, NO_ROWS, NO_ROWS)
            again, _ = _train(job, settings, split, training.best_updates)
            again.model.reach.copy_(trained.model.reach)
            trained = again
        rows = sampled(everything, settings.context_rows, job.seed, count=0)
        table = trained.table.take(rows)  # no row attends to others
        trained = replace(trained, table=table, context_rows=np.arange(len(rows)), split=None)
        return cls(trained, table, rows, validation_loss, training.best_updates)

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict rows of another table; none attends to another."""
        trained = self.trained
        return trained.decode(trained.outputs(trained.features(table))).values

    @property
    def targets(self) -> np.ndarray:
        """See `Model`."""
        return self.table.truth

    @torch.no_grad()
    def attention(self, table: Table) -> np.ndarray:
        """The mean over blocks between datapoints, their heads and the members."""
        trained = self.trained
        if not trained.settings.between_datapoints:
            raise UserError("explain: the model has no attention between datapoints")
        features = trained.features(table)
        parts = []
        every_row = torch.arange(table.rows, device=trained.device)
        for rows in every_row.split(trained.context.chunk_size):
            encoded = trained.precise.encode(features.take(rows))
            blocks = trained.precise.attention_weights(encoded, trained.context)
            parts.append(torch.stack(blocks).mean((0, 1, 2)))  # of (K, heads, n, m) each
        return torch.cat(parts).cpu().numpy()

    @torch.no_grad()
    def without(self, table: Table, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """See `Model`."""
        trained = self.trained
        features = trained.features(table)
        visible = torch.zeros(table.rows, len(self.rows), dtype=torch.bool)
        predictions = []
        for left_out in places:
            invisible = visible.scatter(1, torch.from_numpy(left_out), True).to(trained.device)
            outputs = predict(trained.precise, features, trained.context, invisible)
            predictions.append(trained.decode(outputs).values)
        return predictions

    def with_rows(self, table: Table) -> CompactModel:
        """See `Model`."""
        rows = np.arange(table.rows)
        trained = replace(self.trained, table=table, context_rows=rows)
        return replace(self, trained=trained, table=table, rows=rows)

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Model`."""
        encoder = self.trained.encoder
        return {
            **weight_arrays(self.trained),
            "centre": encoder.statistics.centre,
            "scale": encoder.statistics.scale,
            "edges": encoder.edges,
            "means": encoder.means,
        }

    @classmethod
    def restored(
        cls, settings: CompactSettings, facts: ModelFacts, arrays: Arrays, **fields: Any
    ) -> Self:
        """See `Model`."""
        table = fields["table"]
        known = Statistics(arrays["centre"], arrays["scale"])
        encoder = Encoder(table.columns, table.target, known, arrays["edges"], arrays["means"])
        device = facts.present_device
        model = build_model(CompactNPT, facts.seed, device, encoder, settings).eval()
        context_rows = np.arange(table.rows)
        trained = TrainedCompactNPT(model, encoder, table, context_rows, settings, facts.seed)
        return cls(trained.with_weights(tensors_of(arrays, WEIGHTS)), **fields)


def _train(
    job: Job, settings: CompactSettings, split: Split, stop_at: list[int] | None
) -> tuple[TrainedCompactNPT, CompactTraining]:
    trained = TrainedCompactNPT.untrained(settings, job.device, job.table, split, job.seed)
    training = trained.training(job.weights, stop_at)
    return trained, training.run(visible=job.visible)
