"""What the probe of a study receives: a trained model, the rows to probe, and options."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from npt.data.encoding import centre_and_scale
from npt.metrics import score
from npt.perturbation import Perturbation
from npt.probing import Probe, RowProbe
from npt.table import Split, Table


@dataclass(frozen=True)
class ProbeQuery:
    """One fold of a probe.

    Attributes:
        probe: Probe of the trained model.
        table: The whole table, test targets included.
        split: Split of the fold.
        rows: Test rows to probe (n,).
        seed: Seed of the probe's random draws, the number of the fold.
        options: Instance of the study kind's options.
        threads: CPU threads of baselines that the probe fits.
        answers: What the probe has predicted, for studies that ask the same of the same rows.
    """

    probe: Probe
    table: Table
    split: Split
    rows: np.ndarray
    seed: int
    options: Any
    threads: int = 1
    answers: dict[tuple[bytes, Perturbation], np.ndarray] = field(default_factory=dict)

    @property
    def row_probe(self) -> RowProbe:
        """The probe, of a kind that needs a model of rows."""
        assert isinstance(self.probe, RowProbe), f"{self.probe.trained} predicts rows alone"
        return self.probe

    @property
    def truth(self) -> np.ndarray:
        """Targets (n,) of the probed rows."""
        return self.table.truth[self.rows]

    def with_shown_targets(self) -> ProbeQuery:
        """The query for a model of the lookup task, with test targets shown on the duplicates.

        Models of the plain task keep the blind table.
        """
        if self.probe.lookup == "off":
            return self
        return self.with_probe(self.row_probe.with_table(self.table, self.split))

    def with_probe(self, probe: Probe) -> ProbeQuery:
        """The same query of another model, which has given no answers."""
        return replace(self, probe=probe, answers={})

    def with_rows(self, rows: np.ndarray) -> ProbeQuery:
        """The same query for other rows."""
        return replace(self, rows=rows)

    def perturbed(self, perturbation: Perturbation) -> np.ndarray:
        """Predictions of the probed rows while the other rows are perturbed."""
        question = (self.rows.tobytes(), perturbation)
        if question not in self.answers:
            predictions = self.probe.predict_perturbed(self.rows, perturbation, self.seed)
            self.answers[question] = predictions
        return self.answers[question]

    def score(self, predictions: np.ndarray, prefix: str = "") -> dict[str, float]:
        """Metrics of predictions for the probed rows, by names that begin with `prefix`."""
        scores = score(self.table.task, self.truth, predictions)
        return {f"{prefix}{metric}": value for metric, value in scores.items()}

    def test_scores(self) -> dict[str, float]:
        """Metrics over all test rows of the fold, each named `test_`, as twins are scored."""
        test = self.split.test
        return self.with_rows(test).score(self.probe.predict(test), "test_")

    def constant(self) -> np.ndarray:
        """Predictions of a model without features: mean or class frequencies of the train rows."""
        truth = self.table.truth[self.table.labelled(self.split.train)]
        if self.table.task == "regression":
            return np.full(len(self.rows), truth.mean())
        classes = self.table.columns[self.table.target].size
        frequencies = np.bincount(truth.astype(int), minlength=classes) / len(truth)
        return np.repeat(frequencies[None], len(self.rows), 0)


def target_scale(table: Table, split: Split) -> float:
    """Standard deviation of the known train targets; 1 for a constant target and for classes."""
    if table.task != "regression":
        return 1.0
    train = table.truth[table.labelled(split.train)]
    return float(centre_and_scale(train)[1]) if len(train) else 1.0


def sampled(rows: np.ndarray, limit: int, seed: int) -> np.ndarray:
    """At most `limit` of the rows, in ascending order."""
    if limit >= len(rows):
        return rows
    generator = np.random.default_rng(seed)
    return np.sort(generator.choice(rows, limit, replace=False))


def mean_or_nan(values: np.ndarray) -> float:
    """Mean of the values; NaN if there are none."""
    return float(values.mean()) if len(values) else np.nan


def rounded(values: np.ndarray, digits: int = 5) -> list[float | None]:
    """Values to some significant digits, None for NaN, as JSON has them."""
    return [None if np.isnan(value) else float(f"{value:.{digits}g}") for value in values]
