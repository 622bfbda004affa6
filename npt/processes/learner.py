"""Neural processes, and NPT as one, behind the Learner contract."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from npt.method import Method
from npt.nn.network_learner import NetworkLearner
from npt.processes.settings import (
    AttentiveSettings,
    ConditionalSettings,
    NeuralProcessSettings,
    NPTProcessSettings,
    TrainingSettings,
)

if TYPE_CHECKING:
    from npt.nn.engine import Training
    from npt.processes.trained import TrainedProcess
    from npt.processes.training import ProcessTraining

SMALL = {"updates": 4, "evaluate_every": 2, "draws": 2}


class ProcessLearner(NetworkLearner):
    """Trains on tables other than the held-out ones, whose targets it predicts."""

    network = "npt.processes.trained:TrainedProcess"

    def training(self, trained: TrainedProcess) -> ProcessTraining:
        """The training on curves, or on tables for training alone."""
        from npt.processes.training import ProcessTraining, source_of

        data = trained.data
        source = source_of(data, self.settings)
        held_out = data.held_out("validation", self.settings.batch_tables)
        validation = [tasks for tasks, _ in held_out]
        tensors = (data.x, data.y)
        return ProcessTraining(
            trained.model, source, validation, self.settings, trained.seed, tensors
        )

    def finish(
        self, trained: TrainedProcess, training: Training[Any, Any]
    ) -> tuple[TrainedProcess, float]:
        """The network with the history of its training."""
        history = training.state()["history"][0]
        return replace(trained, history=history), float(training.losses)


def _method(name: str, title: str, settings: type[TrainingSettings]) -> Method:
    return Method(
        name=name,
        title=title,
        settings=settings,
        build=ProcessLearner,
        load=ProcessLearner.load,
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
