"""Solved NPT as a fitted model of an estimator.

N rows of the fit, of which m are different, n rows to predict, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from npt.errors import UserError
from npt.estimator.model import Arrays, Job, Model, ModelFacts, tensors_of
from npt.solved.cross_fitted import CrossFitted
from npt.solved.kernels import Parameters
from npt.solved.model import SolvedNPT, fit
from npt.solved.settings import SolvedSettings
from npt.table import Table

TUNED = "tuned/"
LEARNED = "learned"
FEW = 100  # most rows, or groups, of which intervals tune anew
MOST_NUMBERS = 50_000_000  # of new rows times fitted rows that are held at once: 0.4 GB
SORTED_NUMBERS = 5_000_000  # of these, which are sorted at once
TOO_FAR_APART = "sample_weight or y: numbers too far apart; no finite prediction"


@dataclass
class SolvedModel(Model):
    """A solved NPT. Equal rows of the fit are one row of its context, that of the first.

    Attributes:
        learned: The model of the rows that it was tuned on; None if it still has them.
    """

    architecture = "solved"
    trained: SolvedNPT
    learned: SolvedModel | None = None

    @classmethod
    def fit(cls, job: Job, settings: SolvedSettings) -> Self:
        """Tune on all rows, those of the validation included, by their leave-one-out errors."""
        settings = settings.model_copy(update={"seed": job.seed})
        try:
            solved = _fitted(job.table, job.weights, settings, job.device)
        except FloatingPointError:
            raise UserError(TOO_FAR_APART) from None
        loss = solved.loss
        if not math.isfinite(loss):
            raise UserError(TOO_FAR_APART)
        return cls(solved, job.table, solved.context.rows, loss, [settings.steps])

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict rows of another table; none attends to another."""
        return self.trained.predict(_features(table))

    @property
    def targets(self) -> np.ndarray:
        """Targets of the rows of `rows` (m,), or codes of their classes."""
        targets = self.trained.context.targets
        if self.trained.classes is None:
            return targets[:, 0]
        return targets.argmax(1)

    def attention(self, table: Table) -> np.ndarray:
        """See `Model`; equal rows of the fit are one."""
        return self.trained.context_weights(_features(table))

    def without(self, table: Table, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """See `Model`; all heads leave the rows out alike."""
        return self.trained.without(_features(table), *places)

    def with_rows(self, table: Table) -> Self:
        """See `Model`; weights of heads and ridges stay, too."""
        trained = self.trained.among(_features(table), _labels(table))
        rows = trained.context.rows
        return replace(self, trained=trained, table=table, rows=rows, learned=self.learned or self)

    def quantiles(self, table: Table, levels: np.ndarray) -> np.ndarray:
        """Quantiles (n, q) of the targets of rows of another table.

        A target may lie as far from its prediction without a fitted row, or its group, as that row
        does from its own prediction without these: jackknife+ (after Barber et al. 2021), with
        tuning and mixture as they are; with up to `FEW` rows or groups, CV+ of at most ten folds,
        each tuned anew. Memory is a few times that of `MOST_NUMBERS` numbers.

        Raises:
            UserError: A level is so near 0 or 1 that a new row may lie beyond all fitted ones.
        """
        weights = self.trained.context.row_weights
        total = weights.sum()
        for level in levels:
            needed = 1 / min(level, 1 - level) - 1
            if needed > total * (1 + 1e-9):
                raise UserError(
                    f"quantiles: {level:g} needs fitted rows of a total weight of {needed:.4g}, "
                    f"found {total:.4g}"
                )
        places = self.trained.context.places
        units = self.trained.context.units[places]
        leaving_out = self._leaving_out
        residuals = self.table.truth - leaving_out.left_out()[places]
        parts = []
        for features in _split(_features(table), MOST_NUMBERS // len(places)):
            for without in _split(
                leaving_out.without_each(features), SORTED_NUMBERS // len(places)
            ):
                possible = without[:, units] + residuals
                quantiles = [_quantile(possible, weights, level) for level in levels]
                parts.append(np.stack(quantiles, axis=1))
        return np.concatenate(parts)

    @cached_property
    def _leaving_out(self) -> CrossFitted | SolvedNPT:
        """What predicts numbers without a fitted row."""
        context = self.trained.context
        count = len(context.places) if context.groups is None else context.unit_count
        if self.learned is not None or len(context.rows) == 1 or count > FEW:
            return self.trained
        try:
            return CrossFitted(self.trained)
        except FloatingPointError:
            raise UserError(TOO_FAR_APART) from None

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Model`."""
        if self.learned is not None:
            return {**self.learned.arrays(), LEARNED: self.learned.table.values}
        arrays = {"weights": self.trained.context.row_weights}
        if self.table.groups is not None:
            arrays["groups"] = self.table.groups
        for name, tensor in self.trained.parameters.items():
            arrays[TUNED + name] = tensor.cpu().numpy()
        return arrays

    @classmethod
    def restored(
        cls, settings: SolvedSettings, facts: ModelFacts, arrays: Arrays, **fields: Any
    ) -> Self:
        """See `Model`."""
        device = facts.present_device
        tuned = {name: tensor.to(device) for name, tensor in tensors_of(arrays, TUNED).items()}
        table = learned = fields.pop("table")
        if LEARNED in arrays:
            learned = Table.from_values(table.columns, arrays[LEARNED], table.target)
        learned = replace(learned, groups=arrays.get("groups"))
        solved = _fitted(learned, arrays["weights"], settings, device, tuned)
        if LEARNED not in arrays:
            return cls(solved, learned, **fields)
        fields["rows"] = solved.context.rows
        return cls.with_rows(cls(solved, learned, **fields), table)


def _split(rows: np.ndarray, most: int) -> list[np.ndarray]:
    """Parts of at most so many rows, of one at least; one part of no rows."""
    return np.array_split(rows, max(1, math.ceil(len(rows) / max(1, most))))


def _quantile(values: np.ndarray, weights: np.ndarray, level: float) -> np.ndarray:
    """Quantile (n,) of values (n, N) and one more that is beyond all, as a new row may be."""
    if level < 0.5:
        return -_quantile(-values, weights, 1 - level)
    total = weights.sum()
    return np.quantile(
        values,
        min(1.0, level * (total + 1) / total),  # above 1 by rounding alone
        axis=1,
        weights=weights,
        method="inverted_cdf",
    )


def _fitted(
    table: Table,
    weights: np.ndarray | None,
    settings: SolvedSettings,
    device: torch.device,
    tuned: Parameters | None = None,
) -> SolvedNPT:
    """A model of a table whose target is last."""
    target = table.columns[-1]
    return fit(
        _features(table),
        _labels(table),
        np.array([column.kind == "categorical" for column in table.columns[:-1]], bool),
        classes=len(target.levels) or None,
        weights=weights,
        groups=table.groups,
        settings=settings,
        device=device,
        parameters=tuned,
    )


def _labels(table: Table) -> np.ndarray:
    """Targets (N,): numbers, or codes of classes."""
    return table.truth.astype(np.int64) if table.columns[-1].levels else table.truth


def _features(table: Table) -> np.ndarray:
    """Cells (n, d) of a table whose target is last."""
    return table.values[:, :-1]
