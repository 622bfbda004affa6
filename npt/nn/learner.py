"""NPT behind the Learner contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.interface import (
    DATA_SOURCES,
    Fit,
    Infeasible,
    Method,
    Prediction,
    Resources,
    one_fold,
)
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings
from npt.table import Split, Table

if TYPE_CHECKING:
    import torch

    from npt.nn.checkpoint import Checkpoint
    from npt.nn.trained import TrainedNPT

SOURCES = ("npt/nn", *DATA_SOURCES)


class NPTLearner:
    """Trains on all rows of a blind table.

    A prediction depends on every row's features and the labels that masking allows.
    """

    def __init__(self, settings: NPTSettings, resources: Resources) -> None:
        self.settings = settings
        self.resources = resources
        self._trained: TrainedNPT | None = None

    @property
    def trained(self) -> TrainedNPT:
        """The result of `fit`."""
        assert self._trained is not None, "fit comes first"
        return self._trained

    @property
    def device(self) -> torch.device:
        """Device of the training."""
        return self.trained.device

    def fit(
        self,
        table: Table,
        split: Split,
        seed: int,
    ) -> Fit:
        """Train from initial weights.

        Raises:
            Infeasible: the table does not fit into the device's memory, or training diverged.
        """
        from npt.nn.trained import TrainedNPT
        from npt.nn.training import train

        trained = TrainedNPT.untrained(self.settings, self.resources, table, split, seed)
        try:
            best = train(
                trained.model,
                trained.data,
                self.settings,
                seed,
                checkpoint=self._checkpoint(trained),
                metrics=self.resources.metrics,
            )
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise
            reason = str(error).partition("\n")[0]
            raise Infeasible(f"out of memory on {trained.device}: {reason}") from error
        if not math.isfinite(best.validation_loss):
            raise Infeasible(
                "no validation loss was finite: training diverged, or no validation target is known"
            )
        self._trained = trained
        return Fit(
            chosen={"update": best.update},
            validation_loss=best.validation_loss,
            fits=1,
            parameters=sum(parameter.numel() for parameter in trained.model.parameters()),
            earlier_seconds=best.earlier_seconds,
        )

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows in validation mode, all others in test mode."""
        return self.trained.predict(rows)

    def save(self, path: Path) -> None:
        """Write the weights."""
        self.trained.save(path)

    def _checkpoint(self, trained: TrainedNPT) -> Checkpoint | None:
        from npt.nn.checkpoint import Checkpoint, stamp

        if self.resources.checkpoint is None:
            return None
        belongs = stamp(
            self.settings,
            trained.model.layout,
            trained.seed,
            data=trained.data,
            sources=SOURCES,
        )
        return Checkpoint(self.resources.checkpoint, belongs, self.resources.checkpoint_minutes)


def load(
    settings: NPTSettings,
    resources: Resources,
    path: Path,
    table: Table,
    split: Split,
    seed: int,
) -> TrainedNPT:
    """Read the weights of a trained network.

    Raises:
        UserError: the file is damaged, or holds the weights of another model.
    """
    from npt.nn.trained import TrainedNPT

    return TrainedNPT.load(settings, resources, path, table, split, seed)


def _is_out_of_memory(error: RuntimeError) -> bool:
    """Whether memory ran out; the CPU's allocator raises a plain RuntimeError."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


METHOD = Method(
    name="npt",
    title="NPT",
    settings=NPTSettings,
    build=NPTLearner,
    draw=draw,
    load=load,
    folds_per_job=one_fold,
    saves_weights=True,
    sources=SOURCES,
    libraries=("torch",),
    test_settings={
        "width": 8,
        "layers": 2,
        "heads": 2,
        "updates": 10,
        "evaluate_every": 5,
        "learning_rate": 0.01,
        "target_mask": 0.5,
        "schedule_share": 0.5,
    },
)
