"""What happens around an update: batches, losses, best weights, interruption, metrics."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact.learner import CompactLearner
from npt.compact.optimisation import learning_rate
from npt.compact.settings import CompactSettings
from npt.compact.training import (
    METRICS,
    Batches,
    BestWeights,
    TrainingResult,
    hidden_cells,
    member_losses,
    train,
    update,
    validation_losses,
)
from npt.interface import Infeasible, Resources
from npt.nn.checkpoint import Checkpoint, stamp
from npt.table import Table
from tests.conftest import first_split
from tests.npt.compact.tables import (
    PLAIN,
    SEED,
    TINY,
    consecutive,
    mixed_table,
    same_bits,
    started,
    table_of,
    weights_of,
)

# With validation losses that fall and rise again.
OVERSHOOTING = TINY.changed(learning_rate=0.05, updates=50, evaluate_every=2, members=3)


def test_an_epoch_is_a_partition_of_the_train_rows() -> None:
    data = started(TINY, mixed_table(rows=60)).data
    batches = Batches(data, TINY, SEED)
    assert batches.per_epoch == len(data) // 16
    epochs = []
    for epoch in range(3):
        numbers = range(epoch * batches.per_epoch + 1, (epoch + 1) * batches.per_epoch + 1)
        epochs.append([batches.rows(number).tolist() for number in numbers])
    for epoch in epochs:
        assert sorted(row for rows in epoch for row in rows) == list(range(len(data)))
        assert all(16 <= len(rows) < 32 for rows in epoch)
    assert len({repr(epoch) for epoch in epochs}) == 3
    assert repr(sorted(epochs[0][0])) not in {repr(sorted(rows)) for rows in epochs[1]}
    assert Batches(data, TINY, SEED + 1).rows(1).tolist() != epochs[0][0]
    assert Batches(data, TINY, SEED).rows(4).tolist() == batches.rows(4).tolist()


def test_batches_mix_the_rows() -> None:
    table = table_of(np.zeros((400, 1)), np.arange(400.0))
    data = started(TINY, table, consecutive(320, 40, 40)).data
    rows = Batches(data, TINY, SEED).rows(1)
    assert rows.tolist() != rows.sort().values.tolist()
    steps = rows.sort().values.diff()
    assert len(steps.unique()) > 3


def test_squared_errors_by_hand() -> None:
    outputs = torch.tensor([[[1.0], [2.0]], [[0.0], [4.0]]])
    labels = torch.tensor([[0.0], [4.0]])
    losses = member_losses(outputs, labels, torch.tensor([1.0, 3.0]), TINY)
    assert losses.tolist() == pytest.approx([(1 + 3 * 4) / 4, 0])


def test_cross_entropy_by_hand() -> None:
    probabilities = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]])
    labels = torch.tensor([[1.0, 0, 0], [0, 1.0, 0]])
    losses = member_losses(probabilities.log(), labels, torch.ones(2), TINY)
    assert losses.tolist() == pytest.approx([-(math.log(0.7) + math.log(0.1)) / 2])


def test_labels_are_smoothed_in_training_alone() -> None:
    settings = TINY.changed(label_smoothing=0.3)
    outputs = torch.tensor([[0.7, 0.2, 0.1]]).log()[None]
    labels = torch.tensor([[1.0, 0, 0]])
    smoothed = member_losses(outputs, labels, torch.ones(1), settings)
    expected = -(0.8 * math.log(0.7) + 0.1 * math.log(0.2) + 0.1 * math.log(0.1))
    assert smoothed.tolist() == pytest.approx([expected])
    with torch.no_grad():
        evaluated = member_losses(outputs, labels, torch.ones(1), settings)
    assert evaluated.tolist() == pytest.approx([-math.log(0.7)])


@pytest.mark.parametrize("classes", [1, 3])
def test_weights_act_as_repeated_rows(classes: int) -> None:
    torch.manual_seed(0)
    outputs = torch.randn(2, 4, classes)
    labels = torch.randn(4, 1) if classes == 1 else torch.eye(3)[[0, 2, 1, 1]]
    repeats = torch.tensor([1, 3, 0, 2])
    weighted = member_losses(outputs, labels, repeats.float(), TINY)
    rows = torch.arange(4).repeat_interleave(repeats)
    repeated = member_losses(outputs[:, rows], labels[rows], torch.ones(6), TINY)
    assert torch.allclose(weighted, repeated)


def test_a_batch_of_rows_without_weight_changes_nothing() -> None:
    losses = member_losses(torch.ones(2, 3, 1), torch.zeros(3, 1), torch.zeros(3), TINY)
    assert losses.tolist() == [0, 0]


def test_weights_belong_to_rows_of_the_table() -> None:
    table = mixed_table()
    split = first_split(table)
    weights = np.arange(table.rows, dtype=float)
    data = started(TINY, table, split, weights).data
    assert data.weights.tolist() == split.train.tolist()
    assert data.validation_weights.tolist() == split.validation.tolist()


def test_weights_of_rows_steer_the_training() -> None:
    """Rows of one half have the target 0, of the other 1; a constant is between."""
    table = table_of(np.zeros((40, 1)), np.tile([0.0, 1.0], 20))
    means = []
    for heavy in (0.0, 1.0):
        weights = np.where(table.truth == heavy, 9.0, 1.0)
        settings = PLAIN.changed(between_datapoints=False, learning_rate=0.05, batch_rows=32)
        start = started(settings, table, consecutive(32, 4, 4), weights)
        train(start.model, start.data, settings, SEED)
        with torch.no_grad():
            rows = start.model.encode(start.data.features)
            context = start.model.context(rows, start.data.labels)
            means.append(float(start.model.predict(rows, context).mean()))
    assert means[0] < -0.3
    assert means[1] > 0.3


def test_rows_without_a_target_are_no_train_rows() -> None:
    table = mixed_table()
    split = first_split(table)
    hidden = np.r_[split.train[:3], split.validation[:2]]
    data = started(TINY, table.hide(hidden, 0), split).data
    assert len(data) == len(split.train) - 3
    assert len(data.validation_labels) == len(split.validation) - 2
    assert torch.isfinite(data.labels).all()


def test_shares_of_hidden_cells_are_those_of_the_members() -> None:
    settings = TINY.changed(members=3, feature_mask=[0.3, 0.0])
    data = started(settings, mixed_table(rows=600)).data
    hidden = hidden_cells(data.features, settings)
    assert hidden is not None
    shares = hidden.flatten(1).float().mean(1)
    assert shares.tolist() == pytest.approx([0.3, 0, 0.3], abs=0.03)
    assert not torch.equal(hidden[0], hidden[2])
    assert hidden_cells(data.features, PLAIN) is None


STILL = TINY.changed(learning_rate=1e-30, weight_decay=0.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"feature_mask": [0.0], "context_dropout": 0.0, "dropout": [0.3]},
        {"dropout": [0.0], "context_dropout": 0.0, "feature_mask": [0.3]},
        {"dropout": [0.0], "feature_mask": [0.0], "context_dropout": 0.3},
    ],
    ids=["dropout", "feature_mask", "context_dropout"],
)
def test_every_update_and_seed_has_its_own_draws(changes: dict[str, Any]) -> None:
    start = started(STILL.changed(**changes))
    rows = torch.arange(16)
    losses = []
    for number, seed in ((1, 3), (1, 3), (2, 3), (3, 3), (1, 4)):
        losses.append(update(start.model, start.optimiser, start.data, rows, number, seed))
    first, again, *others = losses
    assert first == again
    assert len({first, *others}) == 4


def test_an_update_reports_the_mean_loss_before_it() -> None:
    start = started(PLAIN)
    rows = torch.arange(16)
    own = torch.eye(16, dtype=torch.bool)
    labels = start.data.labels[rows]
    with torch.no_grad():
        features = start.data.features.take(rows)
        outputs = start.model.leave_one_out(features, labels, None, own)
    expected = float((outputs - labels).square().mean())
    loss = update(start.model, start.optimiser, start.data, rows, 1, SEED)
    assert loss == pytest.approx(expected, rel=1e-6)


def noisy_step(start: Any, number: int) -> list[Tensor]:
    """One update; returns the averaged weights after it."""
    terms = [parameter.square().sum() for parameter in start.model.parameters()]
    start.optimiser.step(torch.stack(terms).sum() * number)
    return [p.detach().clone() for p in start.optimiser.averaged.module.parameters()]


def test_each_member_keeps_the_weights_of_its_lowest_loss() -> None:
    start = started(TINY.changed(members=3))
    state = BestWeights(start.optimiser, 3)
    nan = math.nan
    offered = [[3.0, 1.0, nan], [2.0, 1.0, 5.0], [2.5, 0.5, 4.0], [2.0, nan, 4.5]]
    averages = []
    for number, losses in enumerate(offered, 1):
        averages.append(noisy_step(start, number))
        state.offer(torch.tensor(losses))
    result = state.result()
    assert result.losses == [2.0, 0.5, 4.0]
    assert result.best_updates == [2, 3, 3]
    state.load_best_weights()
    for place, weight in enumerate(start.model.parameters()):
        for member, best in enumerate(result.best_updates):
            assert torch.equal(weight[member], averages[best - 1][place][member])


def test_a_member_that_never_improves_keeps_its_initial_weights() -> None:
    start = started(TINY)
    state = BestWeights(start.optimiser, 2)
    before = weights_of(start.model)
    noisy_step(start, 1)
    state.offer(torch.tensor([math.nan, 1.0]))
    state.load_best_weights()
    assert state.result().losses == [math.inf, 1.0]
    for weight, initial in zip(start.model.parameters(), before, strict=True):
        assert torch.equal(weight[0], initial[0])


def test_training_ends_with_the_best_weights_of_every_member() -> None:
    start = started(OVERSHOOTING)
    result = train(start.model, start.data, OVERSHOOTING, SEED)
    assert not start.model.training
    losses = validation_losses(start.model, start.data, OVERSHOOTING)
    assert losses.tolist() == result.losses
    assert len(set(result.best_updates)) > 1
    assert all(0 < best < 50 for best in result.best_updates)


def averaged_by_hand(settings: CompactSettings) -> list[list[Tensor]]:
    """Averaged weights after every update, by updates one after the other."""
    start = started(settings)
    batches = Batches(start.data, settings, SEED)
    averages = []
    for number in range(1, settings.updates + 1):
        rows = batches.rows(number)
        update(start.model, start.optimiser, start.data, rows, number, SEED)
        averaged = start.optimiser.averaged.module
        averages.append([parameter.detach().clone() for parameter in averaged.parameters()])
    return averages


def test_stop_at_keeps_the_averages_of_the_given_updates() -> None:
    settings = TINY.changed(members=3)
    averages = averaged_by_hand(settings)
    start = started(settings)
    stops = [4, 9, 2]
    result = train(start.model, start.data, settings, SEED, stop_at=stops)
    assert result.best_updates == stops
    assert result.updates == 9
    for place, weight in enumerate(start.model.parameters()):
        for member, stop in enumerate(stops):
            assert torch.equal(weight[member], averages[stop - 1][place][member])


def test_evaluated_weights_are_the_averaged_ones() -> None:
    settings = TINY.changed(updates=6, evaluate_every=6, weight_average=0.9)
    averages = averaged_by_hand(settings)
    start = started(settings)
    train(start.model, start.data, settings, SEED)
    assert same_bits(weights_of(start.model), averages[-1])


def test_stop_at_needs_no_validation_rows() -> None:
    table = mixed_table()
    start = started(TINY, table, consecutive(50, 0, 10))
    result = train(start.model, start.data, TINY, SEED, stop_at=[3, 3])
    assert result.updates == 3
    assert result.losses == [math.inf, math.inf]


@pytest.mark.parametrize(("patience", "updates"), [(10, 15), (11, 20), (1, 10), (1000, 25)])
def test_training_stops_when_no_member_improved(patience: int, updates: int) -> None:
    settings = STILL.changed(patience=patience, updates=25, evaluate_every=5)
    start = started(settings)
    result = train(start.model, start.data, settings, SEED)
    assert result.updates == updates
    assert result.best_updates == [5, 5]


def test_one_improving_member_prevents_the_stop() -> None:
    start = started(TINY)
    state = BestWeights(start.optimiser, 2)
    for number in range(1, 7):
        noisy_step(start, number)
        state.offer(torch.tensor([1.0, 1 / number]))
        assert max(state.best_updates) == number
    noisy_step(start, 7)
    state.offer(torch.tensor([1.0, 1.0]))
    assert state.result().best_updates == [1, 6]


class EveryUpdate(Checkpoint):
    """Is always due, and dies after a number of writes; keeps the weights of the last one."""

    lives = 10**9
    weights: list[Tensor]

    def due(self) -> bool:
        return True

    def write(self, state: Any) -> None:
        self.weights = [weight.clone() for weight in state["weights"]]
        super().write(state)
        self.lives -= 1
        if self.lives == 0:
            raise KeyboardInterrupt


def interrupted(
    path: Path,
    killed_after: int,
    settings: CompactSettings,
    stamped: str = "one",
    **options: Any,
) -> None:
    start = started(settings)
    dying = EveryUpdate(path, stamped, 0)
    dying.lives = killed_after
    with pytest.raises(KeyboardInterrupt):
        train(start.model, start.data, settings, SEED, checkpoint=dying, **options)


def resumed(
    path: Path, settings: CompactSettings, **options: Any
) -> tuple[TrainingResult, list[Tensor], list[Tensor]]:
    """Result, best weights and last weights."""
    start = started(settings)
    checkpoint = EveryUpdate(path, "one", 0)
    result = train(start.model, start.data, settings, SEED, checkpoint=checkpoint, **options)
    return replace(result, earlier_seconds=0.0), weights_of(start.model), checkpoint.weights


@pytest.mark.parametrize("killed_after", [1, 3, 4, 5, 10])
def test_a_resumed_training_equals_an_uninterrupted_one(tmp_path: Path, killed_after: int) -> None:
    whole = resumed(tmp_path / "whole", TINY)
    interrupted(tmp_path / "killed", killed_after, TINY)
    again = resumed(tmp_path / "killed", TINY)
    assert again[0] == whole[0]
    assert same_bits(again[1], whole[1])
    assert same_bits(again[2], whole[2])


@pytest.mark.parametrize(
    "changes",
    [
        {"labels_of_others": False},
        {"between_datapoints": False},
        {"between_attributes": False},
        {"target_mask": 0.3},
        {"number_embedding": "periodic"},
        {"number_embedding": "linear"},
        {"batch_rows": None, "patience": 5},
    ],
)
def test_every_kind_of_training_can_be_resumed(tmp_path: Path, changes: dict[str, Any]) -> None:
    settings = TINY.changed(updates=9, **changes)
    whole = resumed(tmp_path / "whole", settings)
    interrupted(tmp_path / "killed", 5, settings)
    again = resumed(tmp_path / "killed", settings)
    assert again[0] == whole[0]
    assert same_bits(again[1] + again[2], whole[1] + whole[2])


def test_training_without_validation_rows_can_be_resumed(tmp_path: Path) -> None:
    stops = [3, 11]
    whole = resumed(tmp_path / "whole", TINY, stop_at=stops)
    interrupted(tmp_path / "killed", 6, TINY, stop_at=stops)
    again = resumed(tmp_path / "killed", TINY, stop_at=stops)
    assert again[0] == whole[0]
    assert same_bits(again[1], whole[1])


def columns_alone(*chosen: int) -> Table:
    table = mixed_table()
    columns = [table.columns[j] for j in chosen]
    return Table.of(columns, table.values[:, chosen], 0)


@pytest.mark.parametrize("table", [columns_alone(0, 1), columns_alone(0, 3)], ids=["x", "c"])
def test_tables_of_one_kind_of_column_have_checkpoints(tmp_path: Path, table: Table) -> None:
    split = first_split(table)
    weights = []
    for killed_after in (None, 4):
        path = tmp_path / f"{killed_after}"
        start = started(TINY, table, split)
        checkpoint = EveryUpdate(path, "one", 0)
        if killed_after:
            checkpoint.lives = killed_after
            with pytest.raises(KeyboardInterrupt):
                train(start.model, start.data, TINY, SEED, checkpoint=checkpoint)
            start = started(TINY, table, split)
            checkpoint.lives = 10**9
        train(start.model, start.data, TINY, SEED, checkpoint=checkpoint)
        weights.append(weights_of(start.model))
    assert same_bits(*weights)


def test_other_or_damaged_checkpoints_are_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = TINY.changed(updates=6)
    whole = resumed(tmp_path / "whole", settings)
    for damage in ("stamp", "half", "text", "bits"):
        path = tmp_path / damage
        interrupted(path, 4, settings, "another" if damage == "stamp" else "one")
        content = path.read_bytes()
        middle = len(content) // 2
        damaged = {
            "stamp": content,
            "half": content[:1000],
            "text": b"text",
            "bits": content[:middle] + bytes(64) + content[middle + 64 :],
        }
        path.write_bytes(damaged[damage])
        capsys.readouterr()
        again = resumed(path, settings)
        assert same_bits(again[1], whole[1])
        assert again[0] == whole[0]
        assert (str(path) in capsys.readouterr().err) == (damage != "stamp")


def test_a_checkpoint_belongs_to_settings_seed_and_data() -> None:
    def stamped(data: Any, settings: CompactSettings = TINY, seed: int = SEED) -> str:
        return stamp(settings, seed, tensors=data.tensors)

    table = mixed_table()
    data = started(TINY, table).data
    split = first_split(table)
    heavier = np.ones(table.rows)
    heavier[split.validation[0]] = 2
    stamps = [
        stamped(data),
        stamped(data, seed=4),
        stamped(data, TINY.changed(clip=2.0)),
        stamped(started(TINY, mixed_table(seed=1)).data),
        stamped(started(TINY, table, split, heavier).data),
    ]
    assert stamped(started(TINY, table).data) == stamps[0]
    assert len(set(stamps)) == len(stamps)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_metrics_have_a_row_for_every_evaluation(tmp_path: Path) -> None:
    settings = TINY.changed(updates=10)
    path = tmp_path / "metrics.csv"
    start = started(settings)
    result = train(start.model, start.data, settings, SEED, metrics=path)
    rows = rows_of(path)
    assert tuple(rows[0]) == METRICS
    assert [int(row["update"]) for row in rows] == [4, 8, 10]
    for row in rows:
        rate = learning_rate(int(row["update"]), settings)
        assert float(row["learning_rate"]) == rate
        assert float(row["best_validation_loss"]) <= float(row["validation_loss"])
        assert float(row["seconds"]) > 0
    assert float(rows[-1]["best_validation_loss"]) == pytest.approx(np.mean(result.losses))


def test_metrics_are_continued_after_an_interruption(tmp_path: Path) -> None:
    whole = tmp_path / "whole.csv"
    path = tmp_path / "metrics.csv"
    resumed(tmp_path / "one", TINY, metrics=whole)
    interrupted(tmp_path / "state", 7, TINY, metrics=path)
    resumed(tmp_path / "state", TINY, metrics=path)
    expected = [{**row, "seconds": ""} for row in rows_of(whole)]
    assert [{**row, "seconds": ""} for row in rows_of(path)] == expected


def test_time_before_an_interruption_is_counted(tmp_path: Path) -> None:
    interrupted(tmp_path / "state", 5, TINY)
    start = started(TINY)
    checkpoint = Checkpoint(tmp_path / "state", "one", 60)
    result = train(start.model, start.data, TINY, SEED, checkpoint=checkpoint)
    assert result.earlier_seconds > 0
    fresh = started(TINY)
    assert train(fresh.model, fresh.data, TINY, SEED).earlier_seconds == 0


def test_training_ignores_and_keeps_the_global_seed() -> None:
    weights = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        start = started(TINY)
        train(start.model, start.data, TINY, SEED)
        assert torch.equal(torch.get_rng_state(), state)
        weights.append(weights_of(start.model))
    assert same_bits(*weights)


def test_diverged_training_is_infeasible() -> None:
    settings = TINY.changed(clip=1e9, learning_rate=10.0, weight_decay=100.0)
    table = mixed_table()
    split = first_split(table)
    with pytest.raises(Infeasible, match="diverged"):
        CompactLearner(settings, Resources()).fit(table.blind(split.test), split, SEED)


@pytest.mark.parametrize(("train_rows", "validation"), [(1, 5), (0, 5), (10, 0)])
def test_too_few_known_targets_are_infeasible(train_rows: int, validation: int) -> None:
    table = mixed_table(rows=20)
    split = consecutive(10, 5, 5)
    hidden = np.r_[split.train[train_rows:], split.validation[validation:]]
    with pytest.raises(Infeasible, match="known target"):
        CompactLearner(TINY, Resources()).fit(table.hide(hidden, 0), split, SEED)


def test_two_train_rows_are_enough() -> None:
    table = mixed_table(rows=9)
    learner = CompactLearner(TINY, Resources())
    learner.fit(table, consecutive(2, 3, 4), SEED)
    assert np.isfinite(learner.predict(np.arange(5, 9)).values).all()
