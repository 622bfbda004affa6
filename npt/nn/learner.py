"""NPT behind the Learner contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npt.method import Method
from npt.nn.network_learner import NetworkLearner
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings

if TYPE_CHECKING:
    from npt.nn.engine import Training
    from npt.nn.trained import TrainedNPT
    from npt.nn.training import NPTTraining


class NPTLearner(NetworkLearner):
    """By default, trains on all rows of a blind table.

    A prediction depends on the features of the rows of its batch, and the labels that masking
    allows. Validation rows are predicted in validation mode, all others in test mode.
    """

    network = "npt.nn.trained:TrainedNPT"

    def training(self, trained: TrainedNPT) -> NPTTraining:
        """The training on the table."""
        from npt.nn.training import NPTTraining

        return NPTTraining(trained.model, trained.data, self.settings, trained.seed)

    def chosen(self, training: Training[Any, Any]) -> dict[str, object]:
        """The update of the weights, and the precision that the device has."""
        from npt.nn.device import uses_bfloat16

        chosen = super().chosen(training)
        if self.settings.precision == "auto":
            is_short = uses_bfloat16(self.settings, self.trained.device)
            chosen["precision"] = "bfloat16" if is_short else "float32"
        return chosen


METHOD = Method(
    name="npt",
    title="NPT",
    settings=NPTSettings,
    build=NPTLearner,
    draw=draw,
    load=NPTLearner.load,
    probe="npt.nn.probe:NPTProbe",
    update_flop="npt.nn.flops:update_flop",
    version=NPTLearner.version,
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
    twins={
        "without_datapoints": {"attends_to": "self"},
        "without_labels": {"target_mask": 1},  # all targets are hidden, in every mode
        "without_attributes": {"between_attributes": False},
    },
)
