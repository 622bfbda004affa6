"""Compact NPT behind the Learner contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npt.compact.search_space import draw
from npt.compact.settings import CompactSettings
from npt.errors import Infeasible
from npt.method import Method
from npt.nn.network_learner import NetworkLearner

if TYPE_CHECKING:
    from npt.compact.trained import TrainedCompactNPT
    from npt.compact.training import CompactTraining
    from npt.nn.engine import Training

FEWEST_ROWS = 2  # a row is trained beside another one


class CompactLearner(NetworkLearner):
    """Trains on the train rows of a blind table, which predicted rows attend to."""

    network = "npt.compact.trained:TrainedCompactNPT"

    def training(self, trained: TrainedCompactNPT) -> CompactTraining:
        """The training on the train rows.

        Raises:
            Infeasible: There are too few rows with known targets.
        """
        from npt.compact.training import CompactTraining

        data = trained.training_rows()
        if len(data.train) < FEWEST_ROWS:
            raise Infeasible(
                f"{len(data.train)} train rows have a known target; {FEWEST_ROWS} are needed"
            )
        if not len(data.validation):
            raise Infeasible("no validation row has a known target")
        return CompactTraining(trained.model, data, self.settings, trained.seed)

    def finish(
        self, trained: TrainedCompactNPT, training: Training[Any, Any]
    ) -> tuple[TrainedCompactNPT, float]:
        """The network with copying, where that lowers the validation loss."""
        return trained.with_copying()

    def chosen(self, training: Training[Any, Any]) -> dict[str, object]:
        """The updates of each member's weights."""
        return {"updates": training.best_updates}


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
