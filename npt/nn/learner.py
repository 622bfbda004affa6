"""NPT behind the Learner contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.data.encoding import statistics
from npt.interface import (
    DATA_SOURCES,
    Fit,
    Infeasible,
    Method,
    Mode,
    Prediction,
    Resources,
    UserError,
    one_fold,
)
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings
from npt.perturbation import Perturbation
from npt.table import Split, Table

if TYPE_CHECKING:
    import torch

    from npt.nn.inputs import EncodedTable
    from npt.nn.model import NPT


class NPTLearner:
    """Trains on all rows of a blind table; a prediction sees every row's features and the labels that masking allows."""

    def __init__(self, settings: NPTSettings, resources: Resources) -> None:
        self.settings, self.resources = settings, resources

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train from fresh weights.

        Raises:
            Infeasible: the table does not fit into the device's memory, or training diverged.
        """
        from npt.nn.checkpoint import Checkpoint, stamp
        from npt.nn.training import train

        self._prepare(table, split, seed)
        checkpoint = None
        if self.resources.checkpoint:
            belongs = stamp(self.settings, self.model.layout, seed, data=self.data)
            checkpoint = Checkpoint(
                self.resources.checkpoint, belongs, self.resources.checkpoint_minutes
            )
        try:
            trained = train(
                self.model,
                self.data,
                self.settings,
                seed,
                checkpoint=checkpoint,
                metrics=self.resources.metrics,
            )
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise
            raise Infeasible(
                f"out of memory on {self.device}: {str(error).partition(chr(10))[0]}"
            ) from error
        if not math.isfinite(trained.validation_loss):
            raise Infeasible(
                "no validation loss was finite: training diverged, or no validation target is known"
            )
        parameters = sum(p.numel() for p in self.model.parameters())
        return Fit(
            {"update": trained.update},
            trained.validation_loss,
            1,
            parameters,
            trained.earlier_seconds,
        )

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows as in validation mode, all others as in test mode."""
        import torch

        from npt.nn.training import target_outputs

        modes: list[Mode] = ["validation", "test"]
        same_labels = self.settings.target_mask == 1 or not self.settings.validation_labels_at_test
        same_labels = (
            same_labels and self.settings.lookup == "off"
        )  # duplicates show the labels of the mode's own rows
        if same_labels and self.settings.transductive:
            modes = ["test"]  # the rows and the labels shown are the same in both modes
        wanted = torch.zeros_like(self.data.part, dtype=torch.bool)
        wanted[torch.as_tensor(rows, device=self.device)] = True
        in_mode = {
            m: target_outputs(self.model, self.data, m, self.settings, self.seed, wanted)
            for m in modes
        }
        outputs = in_mode["test"]
        if "validation" in in_mode:
            outputs[self.data.part == 1] = in_mode["validation"][self.data.part == 1]
        return self.decode(outputs[torch.as_tensor(rows, device=self.device)])

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        """Predict test rows while the rows beside each of them are disturbed."""
        from npt.nn.perturbed import perturbed_predictions

        return perturbed_predictions(self, rows, perturbation, seed)

    def decode(self, outputs: torch.Tensor) -> Prediction:
        """Target outputs (n, C) to class probabilities or values in original units."""
        if self.task == "regression":
            values = outputs[:, 0].double().cpu().numpy()
            return Prediction(self.known.original(values, self.data.target))
        return Prediction(outputs.double().softmax(-1).cpu().numpy())

    def save(self, path: Path) -> None:
        """Write the weights alone, as tensors."""
        import torch

        torch.save({name: value.cpu() for name, value in self.model.state_dict().items()}, path)

    def load(self, path: Path, table: Table, split: Split, seed: int) -> None:
        """Read weights written by `save`; nothing but tensors is unpickled.

        Raises:
            UserError: the file is damaged, or holds the weights of another model.
        """
        import torch

        from npt.nn.checkpoint import DamagedError, read_tensors

        self._prepare(table, split, seed)
        try:
            self.model.load_state_dict(read_tensors(path))
        except (DamagedError, RuntimeError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            kind = str(error) if isinstance(error, DamagedError) else "other names or shapes"
            raise UserError(
                f"{path}: not this model's weights ({kind}); remove it and run again"
            ) from None
        self.model.eval()

    def attach(self, table: Table, split: Split) -> None:
        """Put another table of the same columns before the trained network, with the statistics of the first."""
        from npt.nn.inputs import EncodedTable

        self.data: EncodedTable = EncodedTable.of(table, split, self.known, self.device)

    def _prepare(self, table: Table, split: Split, seed: int) -> None:
        import torch

        from npt.nn.column_layout import ColumnLayout
        from npt.nn.device import device_of
        from npt.nn.distributed import join
        from npt.nn.training import build_model

        self.known = statistics(table, split, transductive=self.settings.transductive)
        self.device = device_of(join(self.resources.device))
        self.seed, self.task = seed, table.task
        torch.set_num_threads(self.resources.threads)
        self.attach(table, split)
        self.model: NPT = build_model(
            ColumnLayout.of(table, self.settings), self.settings, seed, self.device
        )


def _is_out_of_memory(error: RuntimeError) -> bool:
    """Whether memory ran out, on a GPU or on the CPU, whose allocator raises a plain RuntimeError."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


METHOD = Method(
    name="npt",
    title="NPT",
    settings=NPTSettings,
    build=NPTLearner,
    draw=draw,
    folds_per_job=one_fold,
    saves_weights=True,
    sources=("npt/nn", *DATA_SOURCES),
)
