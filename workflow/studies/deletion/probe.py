"""Data deletion (paper section 4.4 and Appendix B.3.2, Algorithm 2): which rows does a prediction need?

Rows are left out one at a time, while the prediction stays near the one with all rows. The paper divides the change by the
prediction as it is, which a negative one passes always and one near zero never; here it is divided by its size in original
units, and by a hundredth of the target's standard deviation where that is more. For classes, which the paper does not treat,
the change is the total variation distance of the probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.queries import QueryBatch, copies_at_once, query_batches
from npt.nn.trained import TrainedNPT
from workflow.studies.options import DeletionOptions

FLOOR = 0.01  # of a standard deviation of the target
LIKE = 0.8  # how long a table must be, of the longest, to be padded to it


@dataclass(frozen=True)
class Deletion:
    """What became of one row's context.

    `context` (n - 1,) are the other rows of its batch (duplicates of the lookup task follow the originals, numbered from N on),
    `kept` (n - 1,) those of them that are left; `change` is that of the prediction in the end, and `passes` how many forward
    passes it took.
    """

    row: int
    context: np.ndarray
    kept: np.ndarray
    change: float
    passes: int


def deletions(
    learner: TrainedNPT, rows: np.ndarray, options: DeletionOptions, seed: int
) -> list[Deletion]:
    """Algorithm 2 for each of `rows`, test rows; the rows of a batch search side by side, each proposal in its own table."""
    found = {}
    for batch in query_batches(learner, rows):
        for asked in batch.queries.split(copies_at_once(learner, batch.shape[0])):
            searches = [_Search(learner, batch, place, options, seed) for place in asked.tolist()]
            whole = _answers(learner, batch, [search.everything for search in searches])
            for search, answer in zip(searches, whole, strict=True):
                search.original = answer
            while running := [search for search in searches if not search.done]:
                proposals = [search.propose() for search in running]
                for search, answer in zip(
                    running, _answers(learner, batch, proposals), strict=True
                ):
                    search.judge(answer)
            found |= {search.row: search.outcome() for search in searches}
    return [found[int(row)] for row in rows]


class _Search:
    """One row's search; places are those of the batch, and the row's own comes first in every table."""

    original: np.ndarray

    def __init__(
        self,
        learner: TrainedNPT,
        batch: QueryBatch,
        place: int,
        options: DeletionOptions,
        seed: int,
    ) -> None:
        self.options, self.place, self.row = options, place, int(batch.rows[place])
        self.batch_rows, self.table_rows = batch.rows.cpu().numpy(), len(learner.data.part)
        self.floor = (
            FLOOR * learner.statistics.scale[learner.data.target]
            if learner.task == "regression"
            else None
        )
        self.others = np.delete(np.arange(batch.shape[0]), place)
        self.left = self.others.copy()
        self.draws = np.random.default_rng((seed, self.row))
        self.tolerance, self.refusals, self.passes, self.change = options.tolerance, 0, 0, 0.0
        self.done, self.proposed = len(self.left) < 2, 0

    @property
    def everything(self) -> np.ndarray:
        """The table with all rows."""
        return np.concatenate([[self.place], self.others])

    def propose(self) -> np.ndarray:
        """The table without one more row."""
        self.proposed = int(self.draws.integers(len(self.left)))
        return np.concatenate([[self.place], np.delete(self.left, self.proposed)])

    def judge(self, answer: np.ndarray) -> None:
        """Accept or refuse the proposal by the answer to it."""
        self.passes += 1
        change = self._change(answer)
        if change < self.tolerance:
            if change >= self.options.limit:
                self.done = True
                return
            self.left, self.change, self.refusals = np.delete(self.left, self.proposed), change, 0
        else:
            self.refusals += 1
            if self.refusals >= self.options.retries:
                self.tolerance, self.refusals = self.tolerance * self.options.growth, 0
        too_few = len(self.left) < self.options.left * (len(self.others) + 1)
        self.done = too_few or len(self.left) < 2 or not np.isfinite(change)

    def _change(self, answer: np.ndarray) -> float:
        if self.floor is None:
            return float(0.5 * np.abs(answer - self.original).sum())
        return float(abs(answer - self.original) / max(abs(self.original), self.floor))

    def outcome(self) -> Deletion:
        """How it ended."""
        names = np.concatenate([self.batch_rows, self.table_rows + self.batch_rows])
        return Deletion(
            self.row, names[self.others], np.isin(self.others, self.left), self.change, self.passes
        )


def distances(features: np.ndarray, found: Deletion, seed: int) -> tuple[float, float, float]:
    """Mean squared distance of the row to those kept, to those deleted, and to as many random ones as were kept.

    `features` (N, F) are the table's, encoded and standardised, without the target. NaN where a set is empty.
    """
    others = features[found.context % len(features)]
    each = ((others - features[found.row]) ** 2).sum(1)
    drawn = np.random.default_rng((seed, found.row, 1)).choice(
        len(each), int(found.kept.sum()), replace=False
    )
    sets = (each[found.kept], each[~found.kept], each[drawn])
    kept, deleted, random = (float(one.mean()) if len(one) else float("nan") for one in sets)
    return kept, deleted, random


def _answers(learner: TrainedNPT, batch: QueryBatch, tables: list[np.ndarray]) -> np.ndarray:
    """Predictions for the first row of every table (its places in the batch); those of like length share a forward pass."""
    lengths = np.array([len(table) for table in tables])
    found: dict[int, np.ndarray] = {}
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        near = order[lengths[order] >= LIKE * lengths[order[0]]]
        found |= dict(
            zip(near.tolist(), _padded(learner, batch, [tables[i] for i in near]), strict=True)
        )
        order = order[len(near) :]
    return np.stack([found[i] for i in range(len(tables))])


def _padded(learner: TrainedNPT, batch: QueryBatch, tables: list[np.ndarray]) -> np.ndarray:
    """Predictions for the first row of every table, in one pass over them all padded to the length of the first."""
    device, longest, d = batch.rows.device, len(tables[0]), batch.shape[1]
    places = np.zeros((len(tables), longest), np.int64)
    for line, table in zip(places, tables, strict=True):
        line[: len(table)] = table
    lengths = torch.tensor([len(table) for table in tables], device=device)
    cells = batch.inputs.gather_rows(
        torch.from_numpy(places).to(device)[..., None].expand(-1, -1, d)
    )
    first = torch.zeros(len(tables), 1, dtype=torch.long, device=device)
    present = torch.arange(longest, device=device) < lengths[:, None]
    with evaluating(learner.settings, device):
        outputs = learner.model.predict_target(
            cells, first, None if bool(present.all()) else present
        )
    return learner.decode(outputs[:, 0]).values
