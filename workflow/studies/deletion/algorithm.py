"""Paper Algorithm 2: deletes rows from the context of a query row as long as its prediction stays.

The paper divides the change of a prediction by the prediction. A negative one then passes every
deletion, and one near zero none. Here the change is divided by the absolute value in original
units, but at least by a hundredth of the target's standard deviation. For classes, which the
paper does not treat, the change is the total variation distance of the probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npt.nn.queries import QueryBatch, copies_at_once, query_batches
from npt.nn.trained import TrainedNPT
from workflow.studies.deletion import DeletionOptions
from workflow.studies.deletion.contexts import predict_in_contexts

FLOOR = 0.01  # of a standard deviation of the target


@dataclass(frozen=True)
class Deletion:
    """Result of the search for one query row.

    Attributes:
        row: Row number of the query.
        context: Row numbers (n - 1,) of the other rows of its batch. Duplicates of the lookup task
            follow the originals; they are numbered from the number of rows of the table.
        kept: Which of them remain (n - 1,).
        change: Change of the prediction by the accepted deletions.
        passes: Number of forward passes.
    """

    row: int
    context: np.ndarray
    kept: np.ndarray
    change: float
    passes: int


def deletions(
    trained: TrainedNPT,
    rows: np.ndarray,
    options: DeletionOptions,
    seed: int,
) -> list[Deletion]:
    """Algorithm 2 for each of the test rows.

    The query rows of a batch are searched in parallel, each in its own copy of the batch.
    """
    by_row: dict[int, Deletion] = {}
    for batch in query_batches(trained, rows):
        size = batch.shape[0]
        copies = copies_at_once(trained, size)
        for queries in batch.queries.split(copies):
            searches = []
            for query in queries.tolist():
                row = int(batch.rows[query])
                search = Search(query, row, size, options, seed)
                searches.append(search)
            _run(trained, batch, searches)
            for search in searches:
                by_row[search.row] = _result(trained, batch, search)
    return [by_row[row] for row in rows.tolist()]


class Search:
    """Search of one query row; it proposes contexts and judges the changes that they cause.

    A context is a list of indices in the batch that begins with the query.

    Attributes:
        others: Indices of the other rows.
        left: Those of them that remain.
        change: Change of the prediction by the accepted deletions.
        passes: Number of judged proposals.
        done: Whether the search has ended.
    """

    def __init__(
        self,
        query: int,
        row: int,
        size: int,
        options: DeletionOptions,
        seed: int,
    ) -> None:
        self.query = query
        self.row = row
        self.others = np.delete(np.arange(size), query)
        self.left = self.others
        self.change = 0.0
        self.passes = 0
        self.done = len(self.left) < 2
        self._options = options
        self._tolerance = options.tolerance
        self._rejections = 0
        self._proposed = 0
        self._generator = np.random.default_rng((seed, row))

    @property
    def whole(self) -> np.ndarray:
        """The context with all other rows."""
        return np.concatenate([[self.query], self.others])

    def propose(self) -> np.ndarray:
        """The present context without one more row."""
        self._proposed = int(self._generator.integers(len(self.left)))
        remaining = np.delete(self.left, self._proposed)
        return np.concatenate([[self.query], remaining])

    def judge(self, change: float) -> None:
        """Accept or reject the proposed deletion by the change of the prediction."""
        self.passes += 1
        if not change < self._tolerance:  # NaN too
            self._reject()
        elif change >= self._options.limit:
            self.done = True
            return
        else:
            self._accept(change)
        fewest = self._options.left * (len(self.others) + 1)
        too_few = len(self.left) < fewest or len(self.left) < 2
        self.done = too_few or not np.isfinite(change)

    def _accept(self, change: float) -> None:
        self.left = np.delete(self.left, self._proposed)
        self.change = change
        self._rejections = 0

    def _reject(self) -> None:
        self._rejections += 1
        if self._rejections >= self._options.retries:
            self._tolerance *= self._options.growth
            self._rejections = 0


def _run(
    trained: TrainedNPT,
    batch: QueryBatch,
    searches: list[Search],
) -> None:
    """Run all searches to their end, with one proposal of each in a forward pass."""
    whole = [search.whole for search in searches]
    predictions = predict_in_contexts(trained, batch, whole)
    originals = {}
    for search, prediction in zip(searches, predictions, strict=True):
        originals[search.row] = prediction
    running = [search for search in searches if not search.done]
    while running:
        contexts = [search.propose() for search in running]
        predictions = predict_in_contexts(trained, batch, contexts)
        for search, prediction in zip(running, predictions, strict=True):
            original = originals[search.row]
            search.judge(_change(trained, prediction, original))
        running = [search for search in running if not search.done]


def _change(
    trained: TrainedNPT,
    prediction: np.ndarray,
    original: np.ndarray,
) -> float:
    if trained.task != "regression":
        return float(0.5 * np.abs(prediction - original).sum())
    floor = FLOOR * trained.statistics.scale[trained.data.target]
    return float(abs(prediction - original) / max(abs(original), floor))


def _result(
    trained: TrainedNPT,
    batch: QueryBatch,
    search: Search,
) -> Deletion:
    rows = batch.rows.cpu().numpy()
    numbers = np.concatenate([rows, len(trained.data.part) + rows])
    context = numbers[search.others]
    kept = np.isin(search.others, search.left)
    return Deletion(
        row=search.row,
        context=context,
        kept=kept,
        change=search.change,
        passes=search.passes,
    )
