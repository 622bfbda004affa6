"""Tables, small settings, encoded rows and trained networks for the tests of compact NPT."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from npt.compact.columns import Features
from npt.compact.learner import METHOD, CompactLearner
from npt.compact.model import CompactNPT
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.compact.training import CompactTraining
from npt.interface import Resources
from npt.table import Column, Split, Table, Task
from tests.conftest import first_split, make_table

CPU = torch.device("cpu")
SEED = 3
TINY = CompactSettings(
    token_width=8,
    width=8,
    heads=2,
    bins=6,
    bin_scale=[0.15, 0.05],
    members=2,
    dropout=[0.1],
    feature_mask=[0.03],
    updates=12,
    evaluate_every=4,
    batch_rows=16,
    learning_rate=0.01,
    rate_scale=[1.0],
)
SMALL_COMPACT = CompactSettings(**METHOD.test_settings)
# Without random draws other than those of weights and batches.
PLAIN = TINY.changed(dropout=[0.0], feature_mask=[0.0], context_dropout=0.0)


def mixed_table(task: Task = "regression", rows: int = 60, seed: int = 0) -> Table:
    """The target, a number, a grade whose levels are numbers, and a colour; some are missing."""
    generator = np.random.default_rng(seed)
    number = generator.normal(size=rows)
    grade = generator.integers(0, 3, rows)
    colour = generator.integers(0, 2, rows).astype(float)
    signal = number + grade - colour + 0.1 * generator.normal(size=rows)
    target = Column("y", "continuous")
    truth = 10 + 3 * signal
    if task != "regression":
        levels = ("a", "b") if task == "binary" else ("a", "b", "c")
        target = Column("y", "categorical", levels)
        bounds = np.quantile(signal, np.linspace(0, 1, len(levels) + 1)[1:-1])
        truth = np.digitize(signal, bounds)
    number[generator.random(rows) < 0.1] = np.nan
    colour[generator.random(rows) < 0.1] = np.nan
    columns = (
        target,
        Column("number", "continuous"),
        Column("grade", "categorical", ("1", "10", "2.5")),
        Column("colour", "categorical", ("blue", "red")),
    )
    return Table.from_values(columns, np.stack([truth, number, grade, colour], 1), 0)


def table_of(features: np.ndarray, truth: np.ndarray) -> Table:
    """A table of numbers (n, d) and, last, a continuous target (n,)."""
    columns = [Column(f"x{j}", "continuous") for j in range(features.shape[1])]
    columns.append(Column("y", "continuous"))
    return Table.from_values(columns, np.column_stack([features, truth]), features.shape[1])


def consecutive(train: int, validation: int, test: int) -> Split:
    """A fold of so many train rows, then validation rows, then test rows."""
    rows = np.arange(train + validation + test)
    return Split(0, rows[:train], rows[train : train + validation], rows[train + validation :])


def started(
    settings: CompactSettings = TINY,
    table: Table | None = None,
    split: Split | None = None,
    stop_at: Sequence[int] | None = None,
) -> CompactTraining:
    """A training from initial weights."""
    table = table or mixed_table()
    split = split or first_split(table)
    blind = table.blind(split.test)
    trained = TrainedCompactNPT.untrained(settings, CPU, blind, split, SEED)
    return CompactTraining(trained.model, trained.training_rows(), settings, SEED, stop_at)


def fitted(
    settings: CompactSettings = TINY,
    table: Table | None = None,
    split: Split | None = None,
    seed: int = SEED,
) -> TrainedCompactNPT:
    """A network that was trained on the blind table."""
    table = table or mixed_table()
    split = split or first_split(table)
    learner = CompactLearner(settings, Resources())
    learner.fit(table.blind(split.test), split, seed)
    return learner.trained


@cache
def small_compact(task: Task, **changes: Any) -> tuple[TrainedCompactNPT, Table, Split]:
    """A small network whose predictions depend on other rows, its table and its split."""
    table = make_table(task)
    split = first_split(table)
    trained = fitted(SMALL_COMPACT.changed(**changes), table, split, seed=0)
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter *= 2
    return replace(trained), table, split  # without what was computed with the former weights


def randomised(model: CompactNPT, seed: int = 0) -> CompactNPT:
    """The model in double precision and evaluation mode, with larger random weights."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.3 * noise)
    return model.double().eval()


def weights_of(model: CompactNPT) -> list[Tensor]:
    """Copies of all weights."""
    return [parameter.detach().clone() for parameter in model.parameters()]


def leave_one_out(
    model: CompactNPT, features: Features, labels: Tensor, invisible: Tensor
) -> Tensor:
    """Outputs (K, n, C) of the rows of a batch, each beside the visible others."""
    rows = model.encode(features)
    return model.predict(rows, model.context(rows, labels), invisible)
