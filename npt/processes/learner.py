"""Neural processes, and NPT as one, behind the Learner contract."""

from __future__ import annotations

from npt.method import Method
from npt.nn.network_learner import NetworkLearner
from npt.processes.settings import (
    AttentiveSettings,
    ConditionalSettings,
    NeuralProcessSettings,
    NPTProcessSettings,
    TrainingSettings,
)

SMALL = {"updates": 4, "evaluate_every": 2, "draws": 2}


class ProcessLearner(NetworkLearner):
    """Trains on tables other than the held-out ones, whose targets it predicts."""

    network = "npt.processes.trained:TrainedProcess"


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
