"""Paper Algorithm 2: deletes rows from the context of a query row as long as its prediction stays.

The paper divides the change of a prediction by the prediction. A negative one then passes every
deletion, and one near zero none. Here the change is divided by the absolute value in original
units, but at least by a hundredth of the target's standard deviation. For classes, which the
paper does not treat, the change is the total variation distance of the probabilities.
"""

from __future__ import annotations

import numpy as np

from npt.probing import RowModel, RowProbe
from workflow.studies.deletion import DeletionOptions

FLOOR = 0.01  # of a standard deviation of the target


class Search:
    """Search of one query row; it proposes contexts and judges the changes that they cause.

    Attributes:
        row: Row number of the query.
        context: Row numbers (m,) of its context. Duplicates of the lookup task are numbered from
            the number of rows of the table.
        left: Indices of the context that remain.
        change: Change of the prediction by the accepted deletions.
        passes: Number of judged proposals.
        done: Whether the search has ended.
    """

    def __init__(self, row: int, context: np.ndarray, options: DeletionOptions, seed: int) -> None:
        self.row = row
        self.context = context
        self.left = np.arange(len(context))
        self.change = 0.0
        self.passes = 0
        self.done = len(context) < 2
        self._fewest = options.left * (len(context) + 1)  # the paper counts the query, too
        self._options = options
        self._tolerance = options.tolerance
        self._rejections = 0
        self._proposed = 0
        self._generator = np.random.default_rng((seed, row))

    @property
    def kept(self) -> np.ndarray:
        """Which rows of the context remain (m,)."""
        return np.isin(np.arange(len(self.context)), self.left)

    def propose(self) -> np.ndarray:
        """The present context without one more row."""
        self._proposed = int(self._generator.integers(len(self.left)))
        return np.delete(self.left, self._proposed)

    def judge(self, change: float) -> None:
        """Accept or reject the proposed deletion by the change of the prediction."""
        self.passes += 1
        if change < self._tolerance:
            if change >= self._options.limit:
                self.done = True
                return
            self.left = np.delete(self.left, self._proposed)
            self.change = change
            self._rejections = 0
        else:  # NaN too
            self._rejections += 1
        if self._rejections >= self._options.retries:
            self._tolerance *= self._options.growth
            self._rejections = 0
        too_few = len(self.left) < self._fewest or len(self.left) < 2
        self.done = too_few or not np.isfinite(change)


def deletions(
    probe: RowProbe, rows: np.ndarray, options: DeletionOptions, seed: int
) -> list[Search]:
    """Algorithm 2 for each of the test rows; the query rows of a group are searched in parallel."""
    by_row: dict[int, Search] = {}
    for group in probe.query_groups(rows):
        searches = []
        for row, context in zip(group.rows.tolist(), group.contexts, strict=True):
            searches.append(Search(row, context, options, seed))
            by_row[row] = searches[-1]
        indices = range(len(searches))
        originals = group.predict(indices, [search.left for search in searches])
        while running := [index for index in indices if not searches[index].done]:
            proposals = [searches[index].propose() for index in running]
            predictions = group.predict(running, proposals)
            for index, prediction in zip(running, predictions, strict=True):
                change = _change(probe.trained, prediction, originals[index])
                searches[index].judge(change)
    return [by_row[row] for row in rows.tolist()]


def _change(model: RowModel, prediction: np.ndarray, original: np.ndarray) -> float:
    if model.task != "regression":
        return float(0.5 * np.abs(prediction - original).sum())
    floor = FLOOR * model.statistics.scale[model.target]
    return float(abs(prediction - original) / max(abs(original), floor))
