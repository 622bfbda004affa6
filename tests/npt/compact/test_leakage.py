"""What a row sees: the labels of the visible others, and never its own."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact import training
from npt.compact.learner import CompactLearner
from npt.compact.settings import CompactSettings
from npt.compact.training import draw_visibility
from npt.interface import Resources
from npt.table import Column, Split, Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import (
    CPU,
    PLAIN,
    SEED,
    TINY,
    changed_label,
    consecutive,
    mixed_table,
    randomised,
    same_bits,
    started,
    weights_of,
)

LAYERS = pytest.mark.parametrize("layers", [1, 2, 3])
VARIANTS = pytest.mark.parametrize(
    "changes", [{}, {"similarity": "dot"}, {"number_embedding": "periodic"}]
)
ROWS = 12


def leave_one_out(settings: CompactSettings, task: Task) -> Callable[[Tensor], Tensor]:
    """Outputs (K, n, C) as a function of the labels."""
    training = started(settings, mixed_table(task))
    model = randomised(training.model)
    features = training.data.train.features.take(torch.arange(ROWS)).to(CPU, torch.float64)
    _, invisible = draw_visibility(ROWS, settings, CPU)
    return lambda labels: model.leave_one_out(features, labels, None, invisible)


def labels_of(task: Task) -> Tensor:
    return started(PLAIN, mixed_table(task)).data.train.labels[:ROWS].double()


@LAYERS
@VARIANTS
@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_own_label_never_matters_and_others_do(
    layers: int, changes: dict[str, Any], task: Task
) -> None:
    outputs = leave_one_out(PLAIN.changed(layers=layers, **changes), task)
    labels = labels_of(task)
    with torch.no_grad():
        before = outputs(labels)
        for row in range(ROWS):
            differences = (outputs(changed_label(labels, row)) - before).abs().amax(-1)
            assert differences[:, row].max() == 0.0
            others = torch.arange(ROWS) != row
            assert differences[:, others].min() > 0.0


def test_context_dropout_hides_rows_from_all_others() -> None:
    torch.manual_seed(0)
    dropped = []
    for _ in range(200):
        scored, invisible = draw_visibility(20, PLAIN.changed(context_dropout=0.25), CPU)
        assert scored.tolist() == list(range(20))
        assert invisible.diagonal().all()
        others = invisible & ~torch.eye(20, dtype=torch.bool)
        columns = others.sum(0)
        assert set(columns.tolist()) <= {0, 19}
        dropped.append((columns == 19).float().mean())
    assert float(torch.stack(dropped).mean()) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("rows", [2, 3, 4, 7])
@pytest.mark.parametrize("changes", [{"context_dropout": 0.9}, {"target_mask": 0.99}])
def test_every_scored_row_sees_another(rows: int, changes: dict[str, float]) -> None:
    for _ in range(50):
        scored, invisible = draw_visibility(rows, PLAIN.changed(**changes), CPU)
        visible = ~invisible.expand(rows, rows)[scored]
        assert len(scored) >= 1
        assert not visible[torch.arange(len(scored)), scored].any()
        assert visible.any(1).all()


def test_masked_rows_are_scored_and_seen_by_none() -> None:
    torch.manual_seed(0)
    counts = torch.zeros(20)
    for _ in range(300):
        scored, invisible = draw_visibility(20, PLAIN.changed(target_mask=0.3), CPU)
        assert len(scored.unique()) == len(scored) == 6
        masked = torch.zeros(20, dtype=torch.bool)
        masked[scored] = True
        seen = ~invisible.expand(20, 20)[scored]
        assert torch.equal(seen, (~masked).expand(6, 20))
        counts[scored] += 1
    assert counts.min() > 50


def with_targets(table: Table, rows: np.ndarray) -> Table:
    truth = table.truth
    truth[rows] = truth[rows][::-1] + 50
    return table.with_numbers(table.target, truth)


@pytest.mark.parametrize("evaluations", [1, 4])
def test_validation_targets_only_select(evaluations: int, tmp_path: Path) -> None:
    settings = TINY.changed(evaluate_every=TINY.updates // evaluations)
    table = mixed_table()
    split = first_split(table)
    losses = []
    weights = []
    for number, shown in enumerate((table, with_targets(table, split.validation))):
        start = started(settings, shown, split)
        path = tmp_path / f"{number}.csv"
        start.training.run(metrics=path)
        weights.append(weights_of(start.model))
        losses.append(list(csv.DictReader(path.open())))
    for first, second in zip(*losses, strict=True):
        assert first["train_loss"] == second["train_loss"]
        assert first["validation_loss"] != second["validation_loss"]
    if evaluations == 1:
        assert same_bits(*weights)


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_test_targets_change_nothing(task: Task) -> None:
    table = mixed_table(task)
    split = first_split(table)
    truth = table.truth
    truth[split.test] = 1 - truth[split.test] if task == "binary" else truth[split.test] + 9
    other = table.with_numbers(0, truth)
    predictions = []
    for shown in (table, other):
        learner = CompactLearner(TINY, Resources())
        learner.fit(shown, split, SEED)
        predictions.append(learner.predict(split.test).values)
    assert np.array_equal(*predictions)


NOISE_ROWS = 2400


def noise(task: Task) -> tuple[Table, Split]:
    """Targets that no feature tells anything about."""
    generator = np.random.default_rng(5)
    rows = NOISE_ROWS + 10
    x = generator.normal(size=(rows, 2))
    target = Column("y", "continuous")
    truth = generator.normal(size=rows)
    if task == "binary":
        target = Column("y", "categorical", ("a", "b"))
        truth = (truth > 0).astype(float)
    columns = (Column("x0", "continuous"), Column("x1", "continuous"), target)
    return Table.of(columns, np.column_stack([x, truth]), 2), consecutive(NOISE_ROWS, 5, 5)


def gains_in_one_pass(task: Task) -> np.ndarray:
    """How far the loss of every batch, before it is trained on, is below that of a constant."""
    settings = TINY.changed(
        width=16, updates=NOISE_ROWS // 32, batch_rows=32, learning_rate=0.02, dropout=[0.0]
    )
    table, split = noise(task)
    start = started(settings, table, split)
    gains = []
    for number in range(1, settings.updates + 1):
        labels = start.data.train.labels[start.training.batch_rows(number)]
        if task == "regression":
            constant = float(labels.square().mean())
        else:
            shares = start.data.train.labels.mean(0)
            constant = float(-(labels @ shares.log()).mean())
        gains.append(constant - start.training.update(number))
    return np.array(gains)


def in_standard_errors(gains: np.ndarray) -> float:
    return float(gains.mean() / (gains.std(ddof=1) / math.sqrt(len(gains))))


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_noise_targets_cannot_be_predicted(task: Task) -> None:
    """The chance of three standard errors above zero is 0.13 %."""
    assert in_standard_errors(gains_in_one_pass(task)) < 3


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_a_leak_would_predict_noise_targets(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row sees itself and the first four rows of its batch."""

    def leaking(rows: int, settings: CompactSettings, device: torch.device) -> tuple:
        invisible = torch.eye(rows) == 0
        invisible[:, :4] = False
        return torch.arange(rows), invisible

    monkeypatch.setattr(training, "draw_visibility", leaking)
    gains = gains_in_one_pass(task)
    assert in_standard_errors(gains) > 6
    assert gains[-20:].mean() > 0.3
