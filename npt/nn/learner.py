"""NPT behind the Learner contract."""

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
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings
from npt.table import Image, Split, Table

if TYPE_CHECKING:
    from npt.nn.trained import TrainedNPT


class NPTLearner(NetworkLearner[NPTSettings, "TrainedNPT"]):
    """Trains on all rows of a blind table.

    A prediction depends on every row's features and the labels that masking allows. Validation
    rows are predicted in validation mode, all others in test mode.
    """

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
        from npt.nn.device import uses_bfloat16
        from npt.nn.trained import TrainedNPT
        from npt.nn.training import train

        trained = TrainedNPT.untrained(self.settings, self.resources, table, split, seed)
        try:
            best = train(
                trained.model,
                trained.data,
                self.settings,
                seed,
                checkpoint=self._checkpoint(
                    trained.model.layout, trained.seed, tensors=trained.data.tensors
                ),
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
        chosen: dict[str, object] = {"update": best.update}
        if self.settings.precision == "auto":
            is_short = uses_bfloat16(self.settings, trained.device)
            chosen["precision"] = "bfloat16" if is_short else "float32"
        return Fit(
            chosen=chosen,
            validation_loss=best.validation_loss,
            fits=1,
            parameters=sum(parameter.numel() for parameter in trained.model.parameters()),
            earlier_seconds=best.earlier_seconds,
        )


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


def update_flop(settings: NPTSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step, by the size of the table."""
    from npt.nn import flops

    return flops.update_flop(settings, rows, columns, image)


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
    abilities=("reduce", "attention", "lookup"),
    update_flop=update_flop,
    folds_per_job=one_fold,
    saves_weights=True,
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
