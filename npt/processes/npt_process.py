"""NPT as a process: a batch of tables [x, y] whose query rows have hidden values.

B tables, m context points, n targets, d inputs, e width of a token. The input of a table are m + n
rows: the context with its values, then every target with its value hidden.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.gaussian import Gaussians
from npt.nn.inputs import ModelInput
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.processes.tasks import Tasks


class NPTProcess(nn.Module):
    """NPT with a Gaussian head on tables of d inputs and a value.

    Attributes:
        among_queries: Whether rows attend to all rows, as in NPT. Otherwise to the context alone,
            which makes it a Transformer neural process (Nguyen and Grover 2022): a prediction
            depends on no other query.
    """

    def __init__(self, inputs: int, settings: NPTSettings, *, among_queries: bool) -> None:
        super().__init__()
        columns = inputs + 1
        layout = ColumnLayout((1,) * columns, (True,) * columns, target=inputs, gaussian=True)
        self.network = NPT(layout, settings)
        self.among_queries = among_queries

    def objective(self, tasks: Tasks, generator: torch.Generator | None = None) -> Tensor:
        """Mean log density of the targets, which is maximised."""
        return self.predict(tasks).log_densities(tasks.y).mean()

    def predict(
        self,
        tasks: Tasks,
        draws: int = 1,
        generator: torch.Generator | None = None,
    ) -> Gaussians:
        """Distributions (1, B, n) of all targets given the context; it has no latent variable."""
        inputs = self._inputs(tasks)
        present = None if self.among_queries else self._is_context(inputs, tasks)
        return self.network.target_gaussians(inputs, self._queries(inputs, tasks), present)

    def attention_weights(self, tasks: Tasks) -> Tensor:
        """Attention (B, k, n, m) of the targets to the context, in the first block between rows.

        With attention among queries, the context's share of it, so that it does not sum to one.
        """
        inputs = self._inputs(tasks)
        by_block = self.network.attention_weights(inputs, self._queries(inputs, tasks))
        weights = by_block[min(by_block)][..., : tasks.context]  # (B, k, n, m)
        if self.among_queries:
            return weights
        return weights / weights.sum(-1, keepdim=True)

    def _inputs(self, tasks: Tasks) -> ModelInput:
        """Tables (B, m + n, d + 1)."""
        shown = torch.cat([tasks.shown_x, tasks.shown_y[..., None]], -1)  # (B, m, d + 1)
        hidden = torch.cat([tasks.x, torch.zeros_like(tasks.y)[..., None]], -1)  # (B, n, d + 1)
        scale = torch.cat([shown, hidden], 1)  # (B, m + n, d + 1)
        mask = torch.zeros_like(scale)
        mask[:, tasks.context :, -1] = 1
        codes = torch.zeros_like(scale, dtype=torch.long)
        return ModelInput(codes, scale, mask)

    def _queries(self, inputs: ModelInput, tasks: Tasks) -> Tensor:
        """Row numbers (B, n) of the targets."""
        tables, rows, _ = inputs.codes.shape
        numbers = torch.arange(tasks.context, rows, device=inputs.codes.device)
        return numbers.expand(tables, -1)

    def _is_context(self, inputs: ModelInput, tasks: Tasks) -> Tensor:
        """Which rows (B, m + n) show their value."""
        tables, rows, _ = inputs.codes.shape
        numbers = torch.arange(rows, device=inputs.codes.device)
        return (numbers < tasks.context).expand(tables, -1)
