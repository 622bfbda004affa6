"""Compact NPT as a fitted model of an estimator.

N rows of the fit, m rows of the context, n rows to predict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from npt.compact.columns import Encoder
from npt.compact.data import TrainingRows
from npt.compact.selection import with_copying
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.compact.training import CompactTraining, build_model
from npt.estimator.explanation import Attention, attention_of
from npt.estimator.job import NO_ROWS, Job, Outcome, require_alone, require_converged
from npt.estimator.state import (
    ModelFacts,
    ModelState,
    column_facts,
    columns_of,
    load_weights,
    present_device,
    weight_arrays,
)
from npt.nn.progress import Progress
from npt.table import Split, Table
from npt.validation import validated

ENCODER = ("centre", "scale", "edges", "means")


@dataclass
class CompactModel:
    """A trained compact NPT.

    Attributes:
        trained: The network, with a table of the context alone.
        rows: Row numbers (m,) of the context in the table of the fit.
    """

    trained: TrainedCompactNPT
    rows: np.ndarray

    @classmethod
    def of(cls, trained: TrainedCompactNPT) -> Self:
        """The model without the rows that no row attends to."""
        rows = trained.context_rows
        table = trained.table
        context = Table.of(table.columns, table.block(rows), table.target)
        places = np.arange(len(rows))
        return cls(replace(trained, table=context, context_rows=places), rows)

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict rows of another table; none attends to another."""
        require_alone(together)
        return self.trained.predict_table(table).values

    @property
    def targets(self) -> np.ndarray:
        """See `Model`."""
        return self.trained.table.truth

    def explain(self, table: Table, count: int) -> Attention:
        """See `Model`."""
        return attention_of(self.trained, table, count)

    def state(self) -> ModelState:
        """See `Model`."""
        trained = self.trained
        encoder = trained.encoder
        arrays = weight_arrays(trained.model)
        for name in ENCODER:
            arrays[f"encoder/{name}"] = getattr(encoder, name)
        arrays["encoder/numeric"] = np.array(encoder.numeric, np.int64)
        arrays["encoder/categorical"] = np.array(encoder.categorical, np.int64)
        arrays["context"] = trained.table.values
        arrays["rows"] = self.rows
        facts = ModelFacts(
            architecture="compact",
            settings=trained.settings.model_dump(),
            seed=trained.seed,
            device=str(trained.device),
            columns=column_facts(encoder.columns),
        )
        return ModelState(facts, arrays)

    @classmethod
    def of_state(cls, state: ModelState) -> Self:
        """See `Model`."""
        facts = state.facts
        arrays = state.arrays
        settings = validated(CompactSettings, facts.settings, "settings")
        columns = columns_of(facts)
        encoder = Encoder(
            columns=columns,
            target=len(columns) - 1,
            numeric=tuple(arrays["encoder/numeric"].tolist()),
            categorical=tuple(arrays["encoder/categorical"].tolist()),
            **{name: arrays[f"encoder/{name}"] for name in ENCODER},
        )
        device = present_device(facts.device)
        model = build_model(encoder, settings, facts.seed, device).eval()
        load_weights(model, arrays)
        trained = TrainedCompactNPT(
            model=model,
            encoder=encoder,
            table=Table.of(columns, arrays["context"], encoder.target),
            context_rows=np.arange(len(arrays["context"])),
            settings=settings,
            seed=facts.seed,
        )
        return cls(trained, arrays["rows"])

    def __getstate__(self) -> ModelState:
        return self.state()

    def __setstate__(self, state: ModelState) -> None:
        restored = self.of_state(state)
        self.trained = restored.trained
        self.rows = restored.rows


def fit_compact(job: Job, settings: CompactSettings) -> Outcome:
    """Train on the train rows; then, if the job says so, on all rows for the best updates.

    Predicted rows attend to all rows, those of the validation included.

    Raises:
        UserError: Training diverged.
    """
    trained, result = _train(job, settings, job.split, None)
    require_converged(result.losses.tolist())
    trained, validation_loss = with_copying(trained, job.split.validation)
    everything = np.arange(job.table.rows)
    if job.refit:
        split = Split(job.split.fold, everything, NO_ROWS, NO_ROWS)
        again, _ = _train(job, settings, split, result.best_updates)
        again.model.reach.copy_(trained.model.reach)
        trained = again
    trained = trained.in_context_of(everything)
    return Outcome(CompactModel.of(trained), validation_loss, result.best_updates)


def _train(
    job: Job, settings: CompactSettings, split: Split, stop_at: list[int] | None
) -> tuple[TrainedCompactNPT, CompactTraining]:
    trained = TrainedCompactNPT.untrained(settings, job.resources, job.table, split, job.seed)
    data = TrainingRows.of(
        job.table, split, trained.encoder, settings, job.seed, trained.device, job.weights
    )
    training = CompactTraining(trained.model, data, settings, job.seed, stop_at)
    return trained, training.run(follow=partial(Progress, visible=job.visible))
