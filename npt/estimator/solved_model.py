"""Solved NPT as a fitted model of an estimator.

N rows of the fit, of which m are different, n rows to predict, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from npt.errors import UserError
from npt.estimator.model import (
    Job,
    Model,
    ModelFacts,
    ModelState,
    Outcome,
    present_device,
    tensors_of,
)
from npt.nn.device import device_of
from npt.solved.model import SolvedNPT, fit
from npt.solved.settings import SolvedSettings
from npt.table import Table
from npt.validation import validated

TUNED = "tuned/"
TOO_FAR_APART = "sample_weight or y: numbers too far apart; no finite prediction"


@dataclass
class SolvedModel(Model):
    """A solved NPT.

    Attributes:
        table: Table of the fit (N), the target last.
        weights: Weight of every row (N,).
        rows: Row numbers (m,) of the first of equal rows.
    """

    solved: SolvedNPT
    table: Table
    weights: np.ndarray
    rows: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        _, self.rows = np.unique(self.solved.context.groups, return_index=True)

    @classmethod
    def fit(cls, job: Job, settings: SolvedSettings) -> Outcome:
        """Tune on all rows, those of the validation included, by their leave-one-out errors."""
        weights = np.ones(job.table.rows) if job.weights is None else job.weights
        try:
            solved = fit(
                *_labelled(job.table),
                classes=_classes(job.table),
                weights=weights,
                settings=settings.model_copy(update={"seed": job.seed}),
                device=device_of(job.resources.device),
            )
        except FloatingPointError:
            raise UserError(TOO_FAR_APART) from None
        loss = solved.loss
        if not math.isfinite(loss):
            raise UserError(TOO_FAR_APART)
        return Outcome(cls(solved, job.table, weights), loss, [settings.steps])

    def predict(self, table: Table, *, together: bool) -> np.ndarray:
        """Predict rows of another table; none attends to another."""
        return self.solved.predict(_features(table))

    @property
    def targets(self) -> np.ndarray:
        """Mean targets of the rows of `rows` (m,), or codes of their most frequent classes."""
        targets = self.solved.context.targets
        if self.solved.attention.classes is None:
            return targets[:, 0]
        return targets.argmax(1)

    def attention(self, table: Table) -> np.ndarray:
        """See `Model`; equal rows of the fit are one."""
        features = _features(table)
        weights = np.zeros((len(features), len(self.rows)))
        row_weights = self.solved.attention_weights(features)
        np.add.at(weights.T, self.solved.context.groups, row_weights.T)
        return weights

    def without(self, table: Table, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """See `Model`; all heads leave the rows out alike."""
        return self.solved.without(_features(table), *places)

    def with_rows(self, table: Table) -> SolvedModel:
        """See `Model`; weights of heads and ridges stay, too."""
        features, labels, _ = _labelled(table)
        return SolvedModel(self.solved.among(features, labels), table, np.ones(table.rows))

    def quantiles(self, table: Table, levels: np.ndarray) -> np.ndarray:
        """Quantiles (n, q) of the targets of rows of another table.

        A target may lie as far from its prediction without a fitted row as that row does from its
        own prediction without itself: jackknife+ (Barber et al. 2021), with tuning and mixture as
        they are. Memory is that of n * N numbers.

        Raises:
            UserError: A level is so near 0 or 1 that a new row may lie beyond all fitted ones.
        """
        total = self.weights.sum()
        for level in levels:
            needed = 1 / min(level, 1 - level) - 1
            if needed > total * (1 + 1e-9):
                raise UserError(
                    f"quantiles: {level:g} needs fitted rows of a total weight of {needed:.4g}, "
                    f"found {total:.4g}"
                )
        groups = self.solved.context.groups
        residuals = self.table.truth - self.solved.left_out()[groups]
        possible = self.solved.without_each(_features(table))[:, groups] + residuals
        return np.stack([_quantile(possible, self.weights, level) for level in levels], axis=1)

    def state(self) -> ModelState:
        """See `Model`."""
        attention = self.solved.attention
        arrays = {"table": self.table.values, "weights": self.weights}
        for name, tensor in attention.parameters.items():
            arrays[TUNED + name] = tensor.cpu().numpy()
        facts = ModelFacts(
            architecture="solved",
            settings=attention.settings.model_dump(),
            seed=attention.settings.seed,
            device=str(attention.device),
            columns=self.table.columns,
        )
        return ModelState(facts, arrays)

    @classmethod
    def from_state(cls, state: ModelState) -> Self:
        """See `Model`."""
        facts = state.facts
        arrays = state.arrays
        table = Table.of(facts.columns, arrays["table"], len(facts.columns) - 1)
        device = present_device(facts.device)
        tuned = tensors_of(arrays, TUNED)
        solved = fit(
            *_labelled(table),
            classes=_classes(table),
            weights=arrays["weights"],
            settings=validated(SolvedSettings, facts.settings, "settings"),
            parameters={name: tensor.to(device) for name, tensor in tuned.items()},
            device=device,
        )
        return cls(solved, table, arrays["weights"])


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


def _labelled(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (N, d), labels (N,), and which columns are categories (d,)."""
    categorical = [column.kind == "categorical" for column in table.columns[:-1]]
    labels = table.truth if table.task == "regression" else table.truth.astype(np.int64)
    return _features(table), labels, np.array(categorical, bool)


def _features(table: Table) -> np.ndarray:
    """Cells (n, d) of a table whose target is last."""
    return table.values[:, :-1]


def _classes(table: Table) -> int | None:
    if table.task == "regression":
        return None
    return len(table.columns[-1].levels)
