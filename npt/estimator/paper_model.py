"""The exact NPT as a fitted model of an estimator.

N rows of the fit, n rows to predict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

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
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.table import Split, Table


@dataclass
class PaperModel(Model):
    """A trained NPT.

    Attributes:
        split: Train and validation rows of the fit.
    """

    architecture = "paper"
    trained: TrainedNPT
    split: Split

    @classmethod
    def fit(cls, job: Job, settings: NPTSettings) -> Self:
        """Train on all rows, with the validation rows' targets hidden."""
        if job.refit:
            raise UserError("refit: True; the paper's architecture is not trained again")
        if job.weights is not None:
            raise UserError("sample_weight: the paper's architecture does not weigh rows")
        trained = TrainedNPT.untrained(settings, job.device, job.table, job.split, job.seed)
        training = trained.training()
        training.run(visible=job.visible)
        require_converged(training.losses)
        loss = float(training.losses)
        return cls(trained, job.table, NO_ROWS, loss, training.best_updates, job.split)

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

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Model`."""
        arrays = weight_arrays(self.trained)
        return {**arrays, "train": self.split.train, "validation": self.split.validation}

    @classmethod
    def restored(
        cls, settings: NPTSettings, facts: ModelFacts, arrays: Arrays, **fields: Any
    ) -> Self:
        """See `Model`."""
        split = Split(0, arrays["train"], arrays["validation"], NO_ROWS)
        device = facts.present_device
        trained = TrainedNPT.untrained(settings, device, fields["table"], split, facts.seed)
        trained = trained.with_weights(tensors_of(arrays, WEIGHTS))
        return cls(trained, split=split, **fields)
