"""Compact NPT behind the Learner contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from npt.compact.search_space import draw
from npt.compact.settings import CompactSettings
from npt.interface import (
    Fit,
    Infeasible,
    Method,
    Resources,
    one_fold,
)
from npt.nn.network_learner import NetworkLearner
from npt.table import Image, Split, Table

if TYPE_CHECKING:
    from npt.compact.trained import TrainedCompactNPT

FEWEST_ROWS = 2  # a row is trained beside another one


class CompactLearner(NetworkLearner[CompactSettings, "TrainedCompactNPT"]):
    """Trains on the train rows of a blind table, which predicted rows attend to."""

    def fit(
        self,
        table: Table,
        split: Split,
        seed: int,
    ) -> Fit:
        """Train from initial weights.

        Raises:
            Infeasible: there are too few rows with known targets, or training diverged.
        """
        from npt.compact.data import TrainingRows, known_rows
        from npt.compact.selection import weighted_by_validation
        from npt.compact.trained import TrainedCompactNPT
        from npt.compact.training import train

        _require_rows(len(known_rows(table, split.train)), len(known_rows(table, split.validation)))
        trained = TrainedCompactNPT.untrained(self.settings, self.resources, table, split, seed)
        data = TrainingRows.of(table, split, trained.encoder, self.settings, seed, trained.device)
        result = train(
            trained.model,
            data,
            self.settings,
            seed,
            checkpoint=self._checkpoint(seed, tensors=data.tensors),
            metrics=self.resources.metrics,
        )
        if not all(math.isfinite(loss) for loss in result.losses):
            raise Infeasible("a member has no finite validation loss: training diverged")
        self._trained, validation_loss = weighted_by_validation(trained, split.validation)
        return Fit(
            chosen={"updates": result.best_updates},
            validation_loss=validation_loss,
            fits=1,
            parameters=trained.parameters,
            earlier_seconds=result.earlier_seconds,
        )


def load(
    settings: CompactSettings,
    resources: Resources,
    path: Path,
    table: Table,
    split: Split,
    seed: int,
) -> TrainedCompactNPT:
    """Read the weights of a trained network.

    Raises:
        UserError: the file is damaged, or holds the weights of another model.
    """
    from npt.compact.trained import TrainedCompactNPT

    return TrainedCompactNPT.load(settings, resources, path, table, split, seed)


def update_flop(settings: CompactSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step, by the size of the table."""
    from npt.compact import flops

    return flops.update_flop(settings, rows, columns, image)


def _require_rows(train: int, validation: int) -> None:
    if train < FEWEST_ROWS:
        raise Infeasible(f"{train} train rows have a known target; {FEWEST_ROWS} are needed")
    if not validation:
        raise Infeasible("no validation row has a known target")


METHOD = Method(
    name="npt_compact",
    title="Compact NPT",
    settings=CompactSettings,
    build=CompactLearner,
    draw=draw,
    load=load,
    abilities=("reduce", "attention", "lookup"),
    update_flop=update_flop,
    folds_per_job=one_fold,
    saves_weights=True,
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
