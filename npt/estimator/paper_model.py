"""The exact NPT as a fitted model of an estimator.

N rows of the fit, n rows to predict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from npt.errors import UserError
from npt.estimator.model import (
    NO_ROWS,
    Job,
    Model,
    ModelFacts,
    ModelState,
    Outcome,
    load_weights,
    present_device,
    require_converged,
    weight_arrays,
)
from npt.interface import Resources
from npt.nn.progress import Progress
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.nn.training import NPTTraining
from npt.table import Split, Table
from npt.validation import validated


@dataclass
class PaperModel(Model):
    """A trained NPT.

    Attributes:
        trained: The network.
        table: Table of the fit (N).
        split: Its train and validation rows.
    """

    trained: TrainedNPT
    table: Table
    split: Split

    @classmethod
    def fit(cls, job: Job, settings: NPTSettings) -> Outcome:
        """Train on all rows, with the validation rows' targets hidden."""
        if job.refit:
            raise UserError("refit: True; the paper's architecture is not trained again")
        if job.weights is not None:
            raise UserError("sample_weight: the paper's architecture does not weigh rows")
        trained = TrainedNPT.untrained(settings, job.resources, job.table, job.split, job.seed)
        training = NPTTraining(trained.model, trained.data, settings, job.seed)
        training.run(follow=partial(Progress, visible=job.visible))
        require_converged(training.losses.tolist())
        model = cls(trained, job.table, job.split)
        return Outcome(model, float(training.losses), training.best_updates)

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict rows of another table, which join those of the fit with hidden targets.

        Args:
            together: Whether all join at once and attend to each other, or each by itself.
        """
        joined = self.table.followed_by(table)
        rows = np.arange(self.table.rows, joined.rows)
        model = self.trained.with_table(joined, replace(self.split, test=rows))
        prediction = model.predict(rows) if together else model.predict_alone(rows)
        return prediction.values

    def state(self) -> ModelState:
        """See `Model`."""
        trained = self.trained
        arrays = weight_arrays(trained.model)
        arrays["table"] = self.table.values
        arrays["train"] = self.split.train
        arrays["validation"] = self.split.validation
        facts = ModelFacts(
            architecture="paper",
            settings=trained.settings.model_dump(),
            seed=trained.seed,
            device=str(trained.device),
            columns=self.table.columns,
        )
        return ModelState(facts, arrays)

    @classmethod
    def from_state(cls, state: ModelState) -> Self:
        """See `Model`."""
        facts = state.facts
        arrays = state.arrays
        settings = validated(NPTSettings, facts.settings, "settings")
        table = Table.of(facts.columns, arrays["table"], len(facts.columns) - 1)
        split = Split(0, arrays["train"], arrays["validation"], NO_ROWS)
        resources = Resources(device=str(present_device(facts.device)))
        trained = TrainedNPT.untrained(settings, resources, table, split, facts.seed)
        load_weights(trained.model, arrays)
        return cls(trained, table, split)
