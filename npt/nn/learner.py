"""NPT behind the Learner contract."""

from __future__ import annotations

from npt.method import Method
from npt.nn.network_learner import NetworkLearner
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings


class NPTLearner(NetworkLearner):
    """By default, trains on all rows of a blind table.

    A prediction depends on the features of the rows of its batch, and the labels that masking
    allows. Validation rows are predicted in validation mode, all others in test mode.
    """

    network = "npt.nn.trained:TrainedNPT"


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
