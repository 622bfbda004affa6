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

    def objective(self, tasks: Tasks, generator: torch.Generator) -> Tensor:
        """Mean log density of the targets, which is maximised."""
        gaussians = self.predict(tasks)
        return gaussians.log_densities(tasks.y).mean()

    def predict(
        self,
        tasks: Tasks,
        draws: int = 1,
        generator: torch.Generator | None = None,
    ) -> Gaussians:
        """Distributions (1, B, n) of all targets given the context; it has no latent variable."""
        zeros = torch.zeros_like(tasks.y)
        x = torch.cat([tasks.shown_x, tasks.x], 1)  # (B, m + n, d)
        y = torch.cat([tasks.shown_y, zeros], 1)  # (B, m + n)
        scale = torch.cat([x, y[..., None]], -1)  # (B, m + n, d + 1)
        mask = torch.zeros_like(scale)
        mask[:, tasks.context :, -1] = 1
        inputs = ModelInput(torch.zeros_like(scale, dtype=torch.long), scale, mask)
        queries = torch.arange(tasks.context, x.shape[1], device=x.device).expand(len(x), -1)
        context = None if self.among_queries else tasks.context
        tokens = self.network.target_tokens(inputs, queries, context)  # (B, n, e)
        return self.network.head.gaussians(tokens[None])
