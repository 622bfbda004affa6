"""Compact NPT behind the Learner contract."""

from __future__ import annotations

from npt.compact.search_space import draw
from npt.compact.settings import CompactSettings
from npt.method import Method
from npt.nn.network_learner import NetworkLearner


class CompactLearner(NetworkLearner):
    """Trains on the train rows of a blind table, which predicted rows attend to."""

    network = "npt.compact.trained:TrainedCompactNPT"


METHOD = Method(
    name="npt_compact",
    title="Compact NPT",
    settings=CompactSettings,
    build=CompactLearner,
    draw=draw,
    load=CompactLearner.load,
    probe="npt.compact.probe:CompactProbe",
    version=CompactLearner.version,
    libraries=("torch",),
    test_settings={
        "token_width": 8,
        "width": 8,
        "heads": 2,
        "bins": 8,
        "members": 2,
        "updates": 20,
        "evaluate_every": 10,
    },
    twins={
        "without_datapoints": {"between_datapoints": False},
        "without_labels": {"labels_of_others": False},
        "without_attributes": {"between_attributes": False},
    },
)
