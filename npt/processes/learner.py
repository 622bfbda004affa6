"""Neural processes, and NPT as one, behind the Learner contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from npt.interface import (
    Fit,
    Infeasible,
    Method,
    Resources,
    one_fold,
)
from npt.nn.network_learner import NetworkLearner
from npt.processes.settings import (
    AttentiveSettings,
    ConditionalSettings,
    NeuralProcessSettings,
    NPTProcessSettings,
    TrainingSettings,
)
from npt.table import Image, Split, Table

if TYPE_CHECKING:
    from npt.processes.trained import TrainedProcess

SMALL = {"updates": 4, "evaluate_every": 2, "draws": 2}


class ProcessLearner(NetworkLearner[TrainingSettings, "TrainedProcess"]):
    """Trains on tables other than the held-out ones, whose targets it predicts."""

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train from initial weights.

        Raises:
            Infeasible: training diverged.
        """
        from dataclasses import replace

        import torch

        from npt.processes.trained import TrainedProcess
        from npt.processes.training import source_of, train

        trained = TrainedProcess.untrained(self.settings, self.resources, table, split, seed)
        source = source_of(trained.data, self.settings)
        validation = [
            tasks for tasks, _ in trained.data.held_out("validation", self.settings.batch_tables)
        ]
        state = train(
            trained.model,
            source,
            validation,
            self.settings,
            seed,
            checkpoint=self._checkpoint(seed, tensors=[trained.data.x, trained.data.y]),
            metrics=self.resources.metrics,
        )
        _, _, _, target = state.history[-1]
        if not math.isfinite(target):
            raise Infeasible("the last log-likelihood was not finite: training diverged")
        history = torch.tensor(state.history, dtype=torch.float64)
        self._trained = replace(trained, history=history)
        return Fit(
            chosen={"update": state.update},
            validation_loss=-target,
            fits=1,
            parameters=trained.parameters,
            earlier_seconds=state.earlier_seconds,
        )


def load(
    settings: TrainingSettings,
    resources: Resources,
    path: Path,
    table: Table,
    split: Split,
    seed: int,
) -> TrainedProcess:
    """Read the weights of a trained process.

    Raises:
        UserError: the file is damaged, or holds the weights of another model.
    """
    from npt.processes.trained import TrainedProcess

    return TrainedProcess.load(settings, resources, path, table, split, seed)


def update_flop(settings: TrainingSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step, by the size of the table."""
    from npt.processes import flops

    return flops.update_flop(settings, rows, columns, image)


def _method(name: str, title: str, settings: type[TrainingSettings]) -> Method:
    return Method(
        name=name,
        title=title,
        settings=settings,
        build=ProcessLearner,
        load=load,
        update_flop=update_flop,
        folds_per_job=one_fold,
        saves_weights=True,
        accelerated=True,
        realisations=True,
        version=ProcessLearner.version,
        libraries=("torch",),
        test_settings=SMALL,
    )


METHODS = (
    _method("neural_process", "NP", NeuralProcessSettings),
    _method("conditional_neural_process", "CNP", ConditionalSettings),
    _method("attentive_neural_process", "ANP", AttentiveSettings),
    _method("npt_process", "NPT, many tables", NPTProcessSettings),
)
