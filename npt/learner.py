"""NPT behind the Learner contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.encoding import statistics
from npt.interface import Fit, Infeasible, Method, Mode, Prediction, Resources, Split, Table
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
            Infeasible: the table does not fit into the device's memory.
        """
        import torch

        from npt.training import train

        self._prepare(table, split, seed)
        try:
            trained = train(self.model, self.data, self.settings, seed)
        except torch.OutOfMemoryError as error:
            raise Infeasible(f"out of memory on {self.device}: {_first_line(error)}") from error
        parameters = sum(p.numel() for p in self.model.parameters())
        return Fit({"update": trained.update}, trained.validation_loss, 1, parameters)

    def predict(self, rows: np.ndarray) -> Prediction:
        """Predict `rows`: validation rows as in validation mode, all others as in test mode."""
        from npt.training import target_outputs

        modes: list[Mode] = ["validation", "test"]
        if self.settings.target_mask == 1:
            modes = ["test"]
        in_mode = {mode: target_outputs(self.model, self.data, mode, self.settings, self.seed) for mode in modes}
        outputs = in_mode["test"]
        if "validation" in in_mode:
            outputs[self.data.part == 1] = in_mode["validation"][self.data.part == 1]
        return self.decode(outputs[rows])

    def decode(self, outputs: torch.Tensor) -> Prediction:
        """Target outputs (n, C) to class probabilities or values in original units."""
        if self.task == "regression":
            return Prediction(outputs[:, 0].double().cpu().numpy() * self.target_scale + self.target_centre)
        return Prediction(outputs.double().softmax(-1).cpu().numpy())

    def save(self, path: Path) -> None:
        """Write the weights alone, as tensors."""
        import torch

        torch.save({name: value.cpu() for name, value in self.model.state_dict().items()}, path)

    def load(self, path: Path, table: Table, split: Split, seed: int) -> None:
        """Read weights written by `save`; nothing but tensors is unpickled."""
        import torch

        self._prepare(table, split, seed)
        self.model.load_state_dict(torch.load(path, weights_only=True, map_location=self.device))
        self.model.eval()

    def _prepare(self, table: Table, split: Split, seed: int) -> None:
        import torch

        from npt.cells import Encoded
        from npt.model import Layout
        from npt.training import build_model

        known = statistics(table, split, transductive=self.settings.transductive)
        self.device = _device(self.resources.device)
        self.seed, self.task = seed, table.task
        self.target_centre, self.target_scale = known.centre[table.target], known.scale[table.target]
        torch.set_num_threads(self.resources.threads)
        self.data: Encoded = Encoded.of(table, split, known, self.device)
        self.model: NPT = build_model(Layout.of(table.columns, table.target), self.settings, seed, self.device)


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


METHOD = Method(
    name="npt",
    title="NPT",
    settings=NPTSettings,
    build=NPTLearner,
    seeds_per_job=1,
    saves_weights=True,
    sources=("npt",),
)
