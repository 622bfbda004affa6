"""Solved NPT: attention between datapoints whose weights are solved for; see `npt/solved/`.

It has no search space: it is tuned by the exact leave-one-out error of the train rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from baselines.baseline import Baseline
from baselines.grids import Parameters
from baselines.stored_rows import RowPredictor, StoredRows
from baselines.training_data import TrainingData
from npt.interface import Resources
from npt.solved.settings import SolvedSettings

if TYPE_CHECKING:
    from npt.solved.model import SolvedNPT


class SolvedBaseline(Baseline):
    """Solved NPT."""

    name = "npt_solved"
    title = "Solved NPT"
    version = 4
    libraries = ("torch",)
    schema = SolvedSettings
    defaults = SolvedSettings().model_dump(exclude={"seed"})
    test_settings = {"fixed": {"steps": 2}}
    embeds_categories = True
    keeps_missing = True
    accelerated = True
    keeps_train_rows = True
    recalls = True
    untrained = {"steps": 0}  # untuned; the mixture has seen labels
    twins = {
        "without_attributes": {"fixed": {"products": False}},
        "without_tuning": {"fixed": {"steps": 0}},
    }

    def fit(
        self,
        data: TrainingData,
        parameters: Parameters,
        seed: int,
        resources: Resources,
    ) -> SolvedRows:
        """Tune on the train rows, and solve among them."""
        import torch

        from npt.solved.model import fit

        settings = SolvedSettings(seed=seed, **parameters)
        torch.set_num_threads(resources.threads)
        stored = data.stored_rows
        model = fit(
            stored.features,
            stored.labels,
            data.is_code,
            classes=data.trained_classes,
            groups=data.train_groups,
            settings=settings,
            device=torch.device(resources.device),
        )
        return SolvedRows(stored, model)


@dataclass(frozen=True)
class SolvedRows(RowPredictor):
    """Solved NPT with what was tuned, given stored rows."""

    stored: StoredRows
    model: SolvedNPT

    def predict_from(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Numbers (n,) or probabilities (n, K)."""
        return self._among(stored).predict(features)

    def weights(
        self, stored: StoredRows, features: np.ndarray, parameters: Parameters
    ) -> np.ndarray:
        """Attention (n, m), of which each row sums to one."""
        return self._among(stored).attention_weights(features)

    def _among(self, stored: StoredRows) -> SolvedNPT:
        if stored is self.stored:
            return self.model
        return self.model.among(stored.features, stored.labels)


BASELINE = SolvedBaseline()
