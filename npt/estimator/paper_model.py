"""The exact NPT as a fitted model of an estimator.

N rows of the fit, n rows to predict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from npt.errors import UserError
from npt.estimator.explanation import Attention
from npt.estimator.job import NO_ROWS, Job, Outcome, require_converged
from npt.estimator.state import (
    ModelFacts,
    ModelState,
    column_facts,
    columns_of,
    load_weights,
    present_device,
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
class PaperModel:
    """A trained NPT.

    Attributes:
        trained: The network.
        table: Table of the fit (N).
        split: Its train and validation rows.
    """

    trained: TrainedNPT
    table: Table
    split: Split

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

    @property
    def rows(self) -> np.ndarray:
        """See `Model`."""
        return np.arange(self.table.rows)

    @property
    def targets(self) -> np.ndarray:
        """See `Model`."""
        return self.table.truth

    def explain(self, table: Table, count: int) -> Attention:
        """See `Model`."""
        raise UserError("explain: architecture is paper; allowed: compact, solved")

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
            columns=column_facts(self.table.columns),
        )
        return ModelState(facts, arrays)

    @classmethod
    def of_state(cls, state: ModelState) -> Self:
        """See `Model`."""
        facts = state.facts
        arrays = state.arrays
        settings = validated(NPTSettings, facts.settings, "settings")
        columns = columns_of(facts)
        table = Table.of(columns, arrays["table"], len(columns) - 1)
        split = Split(0, arrays["train"], arrays["validation"], NO_ROWS)
        resources = Resources(device=str(present_device(facts.device)))
        trained = TrainedNPT.untrained(settings, resources, table, split, facts.seed)
        load_weights(trained.model, arrays)
        return cls(trained, table, split)

    def __getstate__(self) -> ModelState:
        return self.state()

    def __setstate__(self, state: ModelState) -> None:
        restored = self.of_state(state)
        self.trained = restored.trained
        self.table = restored.table
        self.split = restored.split


def fit_paper(job: Job, settings: NPTSettings) -> Outcome:
    """Train on all rows, with the validation rows' targets hidden.

    Raises:
        UserError: The architecture cannot do what the job says, or training diverged.
    """
    if job.refit:
        raise UserError("refit: True; the paper's architecture is not trained again on all rows")
    if job.weights is not None:
        raise UserError("sample_weight: the paper's architecture does not weigh rows")
    trained = TrainedNPT.untrained(settings, job.resources, job.table, job.split, job.seed)
    training = NPTTraining(trained.model, trained.data, settings, job.seed)
    training.run(follow=partial(Progress, visible=job.visible))
    require_converged(training.losses.tolist())
    model = PaperModel(trained, job.table, job.split)
    return Outcome(model, float(training.losses), training.best_updates)
