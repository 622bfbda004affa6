"""NPT behind the Learner contract."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.encoding import statistics
from npt.interface import Fit, Infeasible, Method, Mode, Prediction, Resources, Split, Table, UserError
from npt.search_space import draw
from npt.settings import NPTSettings

if TYPE_CHECKING:
    import torch

    from npt.cells import Encoded
    from npt.model import NPT


class NPTLearner:
    """Trains on all rows of a blind table; a prediction sees every row's features and the labels that masking allows."""

    def __init__(self, settings: NPTSettings, resources: Resources) -> None:
        self.settings, self.resources = settings, resources

    def fit(self, table: Table, split: Split, seed: int) -> Fit:
        """Train from fresh weights.

        Raises:
            Infeasible: the table does not fit into the device's memory, or training diverged.
        """
        from npt.checkpoint import Checkpoint, stamp
        from npt.training import train

        self._prepare(table, split, seed)
        checkpoint = None
        if self.resources.checkpoint:
            belongs = stamp(self.settings, self.model.layout, seed, data=self.data)
            checkpoint = Checkpoint(self.resources.checkpoint, belongs, self.resources.checkpoint_minutes)
        try:
            trained = train(self.model, self.data, self.settings, seed, checkpoint=checkpoint, metrics=self.resources.metrics)
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise
            raise Infeasible(f"out of memory on {self.device}: {str(error).partition(chr(10))[0]}") from error
        if not math.isfinite(trained.validation_loss):
            raise Infeasible("no validation loss was finite: training diverged, or no validation target is known")
        parameters = sum(p.numel() for p in self.model.parameters())
        return Fit({"update": trained.update}, trained.validation_loss, 1, parameters)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows as in validation mode, all others as in test mode."""
        from npt.training import target_outputs

        modes: list[Mode] = ["validation", "test"]
        if self.settings.target_mask == 1 and self.settings.transductive:
            modes = ["test"]  # no label is shown in either mode, and the rows are the same
        in_mode = {mode: target_outputs(self.model, self.data, mode, self.settings, self.seed) for mode in modes}
        outputs = in_mode["test"]
        if "validation" in in_mode:
            outputs[self.data.part == 1] = in_mode["validation"][self.data.part == 1]
        return self.decode(outputs[rows])

    def decode(self, outputs: torch.Tensor) -> Prediction:
        """Target outputs (n, C) to class probabilities or values in original units."""
        if self.task == "regression":
            values = outputs[:, 0].double().cpu().numpy()
            return Prediction(values * self.known.scale[self.data.target] + self.known.centre[self.data.target])
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

        from npt.checkpoint import DAMAGED

        self._prepare(table, split, seed)
        try:
            self.model.load_state_dict(torch.load(path, weights_only=True, map_location=self.device))
        except DAMAGED as error:
            raise UserError(f"{path}: not this model's weights ({type(error).__name__}); remove it and run again") from None
        self.model.eval()

    def attach(self, table: Table, split: Split) -> None:
        """Put another table of the same columns before the trained network, with the statistics of the first."""
        from npt.cells import Encoded

        self.data: Encoded = Encoded.of(table, split, self.known, self.device)

    def _prepare(self, table: Table, split: Split, seed: int) -> None:
        import torch

        from npt.model import Layout
        from npt.parallel import join
        from npt.training import build_model

        self.known = statistics(table, split, transductive=self.settings.transductive)
        self.device = _device(join(self.resources.device))
        self.seed, self.task = seed, table.task
        torch.set_num_threads(self.resources.threads)
        self.attach(table, split)
        self.model: NPT = build_model(Layout.of(table.columns, table.target), self.settings, seed, self.device)


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


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
    seeds_per_job=1,
    saves_weights=True,
    sources=("npt",),
)
