"""What happens around an update: batches, seeds, precision, memory."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.errors import UserError
from npt.interface import Resources
from npt.nn import device as device_module
from npt.nn import memory
from npt.nn.batches import partition
from npt.nn.device import autocast, require_precision
from npt.nn.inputs import EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.nn.training import NPTTraining
from npt.table import Part, Task
from tests.conftest import first_split, make_table

CPU = torch.device("cpu")
BATCHES = NPTSettings(
    width=8,
    layers=2,
    heads=2,
    updates=11,
    evaluate_every=1,
    batch_rows=25,
    target_mask=0.5,
    learning_rate=0.01,
    lookahead_steps=4,
)


def start(
    settings: NPTSettings, task: Task = "multiclass", rows: int = 60
) -> tuple[NPT, EncodedTable]:
    table = make_table(task, rows)
    split = first_split(table)
    trained = TrainedNPT.untrained(settings, CPU, table.blind(split.test), split, 3)
    return trained.model, trained.data


# The weights stay, so that a loss depends on the random draws alone.
STILL = BATCHES.changed(
    batch_rows=None, learning_rate=1e-30, tradeoff="constant", tradeoff_start=0.5
)
OVERSHOOTING = BATCHES.changed(batch_rows=None, learning_rate=0.1, updates=30)
MASKS_ALONE = STILL.changed(hidden_dropout=0, attention_dropout=0)
DROPOUT_ALONE = STILL.changed(feature_mask=0, tradeoff_start=0, target_mask=1)


@pytest.mark.parametrize("settings", [MASKS_ALONE, DROPOUT_ALONE], ids=["masks", "dropout"])
def test_every_update_and_seed_has_its_own_draws(settings: NPTSettings) -> None:
    training = NPTTraining(*start(settings), settings, 3)
    losses = []
    for number, seed in ((1, 3), (1, 3), (2, 3), (3, 3), (1, 4)):
        training.seed = seed
        losses.append(float(training.update(number)))
    first, again, *others = losses
    assert first == again
    assert len({first, *others}) == 4


def test_every_epoch_is_another_partition_of_the_rows() -> None:
    training = NPTTraining(*start(BATCHES), BATCHES, 3)
    assert training.per_epoch == 3
    first, *_, fourth, _, _ = batches = [training.batch_rows(number) for number in range(1, 7)]
    for epoch in (batches[:3], batches[3:]):
        assert torch.cat(epoch).sort().values.tolist() == list(range(60))
    assert not torch.equal(first, fourth)
    other = NPTTraining(*start(BATCHES), BATCHES, 4)
    assert not torch.equal(other.batch_rows(1), first)


def test_training_ends_with_the_best_weights(tmp_path: Path) -> None:
    model, data = start(OVERSHOOTING)
    best = NPTTraining(model, data, OVERSHOOTING, 3).run(metrics=tmp_path / "metrics.csv")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["validation_loss"]) for row in rows]
    lowest = int(np.argmin(losses))
    assert 0 < lowest < len(losses) - 1, "neither the first nor the last"
    assert best.losses.tolist() == [losses[lowest]]
    assert best.best_updates == [lowest + 1]
    assert not model.training
    assert best.validation_scores()[0] == losses[lowest]


def test_metrics_have_the_mean_width_of_each_learned_span(tmp_path: Path) -> None:
    settings = BATCHES.changed(kernel="span", layers=4, updates=3, batch_rows=None)
    model, data = start(settings)
    training = NPTTraining(model, data, settings, 3)
    training.run(metrics=tmp_path / "metrics.csv")
    first, _, last = csv.DictReader((tmp_path / "metrics.csv").open())
    assert [name for name in last if name.startswith("sigma")] == ["sigma_1", "sigma_2"]
    assert first["sigma_1"] != last["sigma_1"]
    start_width = settings.span * math.sqrt(data.codes.shape[1] - 1)
    assert float(first["sigma_2"]) == pytest.approx(start_width, rel=0.1)


def test_repeated_batches_share_rows_and_masks() -> None:
    settings = MASKS_ALONE.changed(repeated_batches=2, batch_rows=25)
    training = NPTTraining(*start(settings), settings, 3)
    losses = [float(training.update(number)) for number in range(1, 9)]
    assert losses[::2] == losses[1::2]
    assert len(set(losses)) == 4


def test_two_threads_give_the_same_bits_twice() -> None:
    torch.set_num_threads(2)
    try:
        first, second = (NPTTraining(*start(BATCHES), BATCHES, 3).run() for _ in range(2))
    finally:
        torch.set_num_threads(1)
    assert all(map(torch.equal, first.weights(), second.weights()))


@pytest.mark.parametrize("changes", [{}, {"attention_dropout": 0.0}, {"layer_norm_on": "all"}])
def test_recomputed_activations_change_no_bit(changes: dict) -> None:
    weights = []
    for recompute in ("never", "always"):
        settings = BATCHES.changed(recompute_activations=recompute, updates=4, **changes)
        training = NPTTraining(*start(settings), settings, 3).run()
        assert training.model.recompute == (recompute == "always")
        weights.append(training.weights())
    assert all(map(torch.equal, *weights))


def test_bfloat16_is_refused_where_it_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "has_bfloat16", lambda device: False)
    require_precision("float32", CPU)
    require_precision("auto", CPU)
    require_precision("bfloat16", torch.device("cuda"))
    table = make_table("regression")
    split = first_split(table)
    settings = BATCHES.changed(precision="bfloat16")
    with pytest.raises(UserError, match=r"^precision: bfloat16: .*allowed: float32, auto$"):
        TrainedNPT.untrained(settings, CPU, table, split, 0)


@pytest.mark.parametrize("has_instructions", [True, False])
def test_automatic_precision_is_that_of_the_processor(
    has_instructions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "has_bfloat16", lambda device: has_instructions)
    table = make_table("regression")
    learner = NPTLearner(BATCHES.changed(precision="auto", updates=2), Resources())
    split = first_split(table)
    fit = learner.fit(table.blind(split.test), split, 0)
    assert fit.chosen["precision"] == ("bfloat16" if has_instructions else "float32")
    left = torch.ones(2, 2)
    with autocast(learner.settings, CPU):
        product = left @ left
    assert product.dtype == (torch.bfloat16 if has_instructions else torch.float32)


@pytest.mark.parametrize("batch_rows", [None, 25])
@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_validation_scores_are_those_of_predictions(task: Task, batch_rows: int | None) -> None:
    settings = BATCHES.changed(batch_rows=batch_rows)
    table = make_table(task)
    split = first_split(table)
    trained = TrainedNPT.untrained(settings, CPU, table.blind(split.test), split, 3)
    predictions = trained.predict(split.validation).values
    truth = table.truth[split.validation]
    if task == "regression":
        metric = np.sqrt(np.mean((predictions - truth) ** 2)) / trained.statistics.scale[-1]
        loss = metric**2
    else:
        codes = truth.astype(int)
        loss = -np.log(predictions[np.arange(len(codes)), codes]).mean()
        metric = (predictions.argmax(1) == codes).mean()
    scores = NPTTraining(trained.model, trained.data, settings, 3).validation_scores()
    assert scores == pytest.approx((loss, metric), rel=1e-5)


def rows_in_parts(rows: int = 503) -> EncodedTable:
    generator = np.random.default_rng(0)
    part = torch.tensor(generator.choice(3, rows, p=[0.7, 0.1, 0.2]))
    codes = torch.tensor(generator.choice(2, (rows, 1), p=[0.9, 0.1]))
    empty = torch.zeros(rows, 1)
    continuous = torch.tensor([False])
    return EncodedTable(codes, empty, empty.bool(), part, continuous, torch.tensor([2]), 0)


def batches_of(table: EncodedTable, mode: Part, **changes: Any) -> list[torch.Tensor]:
    return partition(table, mode, NPTSettings(**changes), torch.Generator().manual_seed(0))


def spread(batches: list[torch.Tensor], chosen: torch.Tensor) -> int:
    """Difference of the largest and smallest number of chosen rows in a batch."""
    counts = [int(chosen[rows].sum()) for rows in batches]
    return max(counts) - min(counts)


def test_batches_partition_the_rows_and_keep_the_shares() -> None:
    table = rows_in_parts()
    batches = batches_of(table, "train", batch_rows=100)
    assert sorted(torch.cat(batches).tolist()) == list(range(503))
    assert {len(rows) for rows in batches} == {83, 84}
    for part in range(3):
        assert spread(batches, table.part == part) <= 1


def test_class_balance_depends_on_train_labels_alone() -> None:
    table = rows_in_parts()
    in_train = table.part == 0
    changes = {"batch_rows": 100, "class_balanced": True}
    batches = batches_of(table, "train", **changes)
    for code in range(2):
        assert spread(batches, in_train & (table.codes[:, 0] == code)) <= 1
    flipped = torch.where(in_train[:, None], table.codes, 1 - table.codes)
    again = batches_of(replace(table, codes=flipped), "train", **changes)
    assert all(map(torch.equal, batches, again))


def test_without_batches_the_whole_table_comes_at_once() -> None:
    (rows,) = batches_of(rows_in_parts(9), "test")
    assert rows.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("own_rows", "mode", "parts"),
    [
        (False, "train", [0]),
        (False, "validation", [0, 1]),
        (False, "test", [0, 1, 2]),
        (True, "train", [0]),
        (True, "validation", [1]),
        (True, "test", [2]),
    ],
)
def test_inductive_batches_lack_some_parts(own_rows: bool, mode: Part, parts: list[int]) -> None:
    table = rows_in_parts()
    changes = {"transductive": False, "own_rows": own_rows, "evaluation_rows": 7}
    batches = batches_of(table, mode, **changes)
    assert max(map(len, batches)) <= (7 if mode != "train" else 503)
    expected = torch.isin(table.part, torch.tensor(parts)).nonzero().flatten()
    assert torch.equal(torch.cat(batches).sort().values, expected)


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    return tmp_path


def test_a_container_has_less_than_its_machine(container: Path) -> None:
    machine = memory.total_megabytes()
    assert machine > 100
    (container / "memory.max").write_text("50000000\n")
    (container / "memory.current").write_text("20000000\n")
    assert memory.total_megabytes() == 50
    assert memory.free() == 30_000_000
    (container / "memory.current").write_text("60000000\n")
    assert memory.free() == 0
    (container / "memory.max").write_text("max\n")
    assert memory.total_megabytes() == machine
    assert 0 < memory.free() < math.inf


def test_without_the_files_of_linux_nothing_is_known_to_be_taken(
    container: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MEMINFO", container / "meminfo")
    assert memory.free() == math.inf
    assert memory.total_megabytes() > 100
