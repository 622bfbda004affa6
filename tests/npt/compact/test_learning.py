"""What a row learns from: the labels of the visible others, and never its own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact.columns import Encoder
from npt.compact.model import Context
from npt.compact.settings import CompactSettings
from npt.compact.training import LabelledRows, draw_visibility
from npt.table import Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import (
    CPU,
    PLAIN,
    TINY,
    consecutive,
    leave_one_out,
    mixed_table,
    randomised,
    started,
    table_of,
)

LEARNING = PLAIN.changed(members=1, width=16, token_width=16, bins=16, weight_decay=0.0, warmup=0.1)


@pytest.mark.parametrize(("task", "updates"), [("regression", 100), ("multiclass", 200)])
def test_it_overfits_sixteen_rows(task: Task, updates: int) -> None:
    settings = LEARNING.changed(updates=updates, learning_rate=0.03)
    table = mixed_table(task, rows=20)
    training = started(settings, table, consecutive(16, 2, 2))
    losses = [training.update(number) for number in range(1, settings.updates + 1)]
    assert losses[-1] < 1e-3


GROUPS, ROWS = 8, 32
TWINS = LEARNING.changed(layers=1, updates=80, learning_rate=0.02)


def lookup_table(generator: np.random.Generator) -> Table:
    """Groups of rows near a point, with a label each; points and labels are new in every table."""
    groups = np.arange(ROWS) % GROUPS
    points = generator.normal(size=(GROUPS, 2))[groups]
    noise = 0.01 * generator.normal(size=(ROWS, 2))
    return table_of(points + noise, generator.normal(size=GROUPS)[groups])


def lookup_error(settings: CompactSettings) -> float:
    """Squared error on 20 tables that were not trained on, relative to that of a constant."""
    generator = np.random.default_rng(1)
    split = consecutive(ROWS - 2, 1, 1)
    table = lookup_table(generator)
    encoder = Encoder.from_table(table, split, settings)
    training = started(settings, table, split)

    def new_rows() -> LabelledRows:
        table = lookup_table(generator)
        labels = torch.from_numpy(table.truth).float()[:, None]
        return LabelledRows(encoder.encode(table), labels, torch.ones(ROWS))

    for number in range(1, settings.updates + 1):
        training.data = replace(training.data, train=new_rows())
        training.update(number)
    model = training.model.eval()
    is_itself = torch.eye(ROWS, dtype=torch.bool)
    errors = []
    squares = []
    for rows in (new_rows() for _ in range(20)):
        with torch.no_grad():
            outputs = leave_one_out(model, rows.features, rows.labels, is_itself)
        errors.append((outputs - rows.labels).square().mean())
        squares.append(rows.labels.square().mean())
    return float(sum(errors) / sum(squares))


def test_only_labels_of_others_solve_lookup() -> None:
    assert lookup_error(TWINS) < 0.3
    for blind in ("labels_of_others", "between_datapoints"):
        assert lookup_error(TWINS.changed(updates=60, **{blind: False})) > 0.9


BATCH = 12


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("similarity", ["distance", "dot"])
@pytest.mark.parametrize("task", ["regression", "multiclass"])
@torch.no_grad()
def test_only_labels_of_others_matter(layers: int, similarity: str, task: Task) -> None:
    settings = PLAIN.changed(layers=layers, similarity=similarity)
    start = started(settings, mixed_table(task))
    model = randomised(start.model)
    rows = start.data.train.take(torch.arange(BATCH))
    features = rows.features.to(CPU, torch.float64)
    labels = rows.labels.double()
    _, invisible = draw_visibility(BATCH, settings, CPU)
    before = leave_one_out(model, features, labels, invisible)
    for row in range(BATCH):
        changed = labels.clone()
        changed[row] = labels[row].flip(0) + 1.0
        after = leave_one_out(model, features, changed, invisible)
        differences = (after - before).abs().amax(-1)
        assert differences[:, row].max() == 0.0
        assert differences[:, torch.arange(BATCH) != row].min() > 0.0


def test_context_dropout_hides_rows_from_all_others() -> None:
    torch.manual_seed(0)
    dropped = []
    for _ in range(200):
        scored, invisible = draw_visibility(20, PLAIN.changed(context_dropout=0.25), CPU)
        assert scored.tolist() == list(range(20))
        assert invisible.diagonal().all()
        hidden_from = invisible.sum(0).tolist()  # itself, or all rows
        assert set(hidden_from) <= {1, 20}
        dropped.append(hidden_from.count(20) / 20)
    assert np.mean(dropped) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("rows", [2, 7])
@pytest.mark.parametrize("changes", [{"context_dropout": 0.9}, {"target_mask": 0.99}])
def test_every_scored_row_sees_another(rows: int, changes: dict[str, float]) -> None:
    for _ in range(50):
        scored, invisible = draw_visibility(rows, PLAIN.changed(**changes), CPU)
        visible = ~invisible.expand(rows, rows)[scored]
        assert len(scored) >= 1
        assert not visible[torch.arange(len(scored)), scored].any()
        assert visible.any(1).all()


def test_masked_rows_are_scored_and_seen_by_none() -> None:
    scored, invisible = draw_visibility(20, PLAIN.changed(target_mask=0.3), CPU)
    again, _ = draw_visibility(20, PLAIN.changed(target_mask=0.3), CPU)
    assert len(scored.unique()) == len(scored) == 6
    assert set(scored.tolist()) != set(again.tolist())
    masked = torch.isin(torch.arange(20), scored)
    assert torch.equal(invisible, masked.expand(20, 20))


@pytest.mark.parametrize("lookup", ["off", "original"])
def test_validation_targets_only_select(lookup: str) -> None:
    settings = TINY.changed(evaluate_every=TINY.updates, lookup=lookup)
    table = mixed_table()
    split = first_split(table)
    truth = table.truth
    truth[split.validation] += 50
    other = table.with_numbers(0, truth)
    first, second = (started(settings, rows, split).run() for rows in (table, other))
    assert first.losses.tolist() != second.losses.tolist()
    assert all(map(torch.equal, first.weights(), second.weights()))


def test_update_hides_every_row_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    training = started(PLAIN)
    attended = training.model.attended
    masks = []

    def recorded(rows: Tensor, context: Context, invisible: Tensor) -> Tensor:
        masks.append(invisible)
        return attended(rows, context, invisible)

    monkeypatch.setattr(training.model, "attended", recorded)
    training.update(1)
    assert torch.equal(masks[0], torch.eye(len(masks[0]), dtype=torch.bool))
