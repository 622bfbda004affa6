"""Row corruption (paper section 4.3, Algorithm 1): does a prediction change when all other rows are destroyed?"""

from __future__ import annotations

import numpy as np
import torch

from npt.batches import partition
from npt.cells import Cells
from npt.execution import autocast
from npt.interface import Prediction
from npt.learner import NPTLearner
from npt.masking import mask
from npt.randomness import generator_for

BATCH_CELLS = 500_000


@torch.no_grad()
def corrupted_predictions(learner: NPTLearner, rows: np.ndarray, *, seed: int, shuffle: bool = True) -> Prediction:
    """Predict each of `rows`, test rows, while every column, targets included, is permuted over the batch's other rows.

    Each row has a copy of its batch and permutations of its own; value and mask channel move together, and the row itself
    stays as it is. Several copies make one forward pass. Without `shuffle` the copies are left intact: the control.
    """
    device = learner.data.codes.device
    outputs = torch.full((learner.data.part.shape[0], _outputs(learner)), torch.nan, device=device)
    batches = generator_for(learner.seed, "evaluation", device)
    shuffles = torch.Generator(device).manual_seed(seed)
    wanted = torch.zeros_like(learner.data.part, dtype=torch.bool)
    wanted[torch.as_tensor(rows, device=device)] = True
    for batch in partition(learner.data, "test", learner.settings, batches):
        cells = mask(learner.data.take(batch), "test", learner.settings, batches).cells
        n, d = cells.codes.shape[1:]
        kept = wanted[batch].nonzero().flatten()
        if not len(kept):
            continue
        for active in kept.split(max(1, BATCH_CELLS // (n * d))):
            copies = _permuted(cells, active, shuffles) if shuffle else _repeated(cells, len(active))
            with autocast(learner.settings, device):
                outputs[batch[active]] = learner.model.predict_target(copies, active[:, None])[:, 0]
    return learner.decode(outputs[torch.as_tensor(rows, device=device)])


def _permuted(cells: Cells, active: torch.Tensor, generator: torch.Generator) -> Cells:
    """A copy of the batch for each active row, every column permuted over the other rows."""
    n, d = cells.codes.shape[1:]
    copies = len(active)
    places = torch.arange(n - 1, device=active.device).expand(copies, -1)
    others = places + (places >= active[:, None])
    order = torch.rand((copies, n - 1, d), generator=generator, device=active.device).argsort(1)
    rows = active[:, None, None].expand(copies, n, d).clone()
    rows.scatter_(1, others[..., None].expand(-1, -1, d), others[..., None].expand(-1, -1, d).gather(1, order))
    return cells.gather_rows(rows)


def _repeated(cells: Cells, copies: int) -> Cells:
    return Cells(*(x.expand(copies, -1, -1) for x in (cells.codes, cells.scale, cells.mask)))


def _outputs(learner: NPTLearner) -> int:
    return learner.model.layout.sizes[learner.model.layout.target]
