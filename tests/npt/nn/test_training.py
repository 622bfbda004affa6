"""What happens around an update: seeds, interruption, precision, progress."""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.interface import Resources, UserError
from npt.nn import device as device_module
from npt.nn import kernels, training
from npt.nn.batches import partition
from npt.nn.checkpoint import Checkpoint, stamp
from npt.nn.column_layout import ColumnLayout
from npt.nn.device import autocast, has_bfloat16, require_precision
from npt.nn.inputs import EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.losses import tradeoff, training_loss
from npt.nn.masking import Masked, mask
from npt.nn.model import NPT
from npt.nn.optimiser import learning_rate
from npt.nn.progress import FIELDS, Progress
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.nn.training import (
    BestWeights,
    TrainingBatches,
    build_model,
    build_optimiser,
    label_scores,
    train,
    update,
)
from npt.seeding import generator_for
from npt.table import Task
from tests.conftest import first_split, make_table

CPU = torch.device("cpu")
NEEDS_BFLOAT16 = pytest.mark.skipif(
    not has_bfloat16(CPU),
    reason="no instructions for bfloat16",
)
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
    data = EncodedTable.of(table.blind(split.test), split, statistics(table, split), CPU)
    return build_model(ColumnLayout.of(table, settings), settings, 3, CPU), data


def weights(model: NPT) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


# The weights stay, so that a loss depends on the random draws alone.
STILL = BATCHES.changed(
    batch_rows=None,
    learning_rate=1e-30,
    tradeoff="constant",
    tradeoff_start=0.5,
)
OVERSHOOTING = BATCHES.changed(batch_rows=None, learning_rate=0.1, updates=30)
MASKS_ALONE = STILL.changed(hidden_dropout=0, attention_dropout=0)
DROPOUT_ALONE = STILL.changed(feature_mask=0, tradeoff_start=0, target_mask=1)


@pytest.mark.parametrize("implementation", [kernels.fast, kernels.plain])
@pytest.mark.parametrize("settings", [MASKS_ALONE, DROPOUT_ALONE], ids=["masks", "dropout"])
def test_every_update_and_seed_has_its_own_draws(
    settings: NPTSettings, implementation: Callable[[], Any]
) -> None:
    with implementation():
        model, data = start(settings)
        optimiser = build_optimiser(model, settings)
        losses = []
        for number, seed in ((1, 3), (1, 3), (2, 3), (3, 3), (1, 4)):
            losses.append(float(update(model, optimiser, data, number, settings, seed)))
    first, again, *others = losses
    assert first == again
    assert len({first, *others}) == 4


def test_schedules_are_those_of_the_update_s_number(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = BATCHES.changed(batch_rows=None, schedule_share=0.1)
    model, data = start(settings)
    optimiser = build_optimiser(model, settings)
    rates: list[float] = []
    shares: list[float] = []

    def recording(*arguments: Any) -> torch.Tensor:
        shares.append(arguments[-1])
        return training_loss(*arguments)

    monkeypatch.setattr(training, "training_loss", recording)
    monkeypatch.setattr(optimiser, "step", rates.append)
    numbers = [1, 2, 3, 7, 11]
    for number in numbers:
        update(model, optimiser, data, number, settings, 3)
    assert rates == [learning_rate(number, settings) for number in numbers]
    assert shares == [tradeoff(number, settings) for number in numbers]
    assert len(set(rates)) == 5
    assert len(set(shares)) == 4


def test_gradients_are_those_of_one_update() -> None:
    gradients = []
    for numbers in ((1, 2), (2,)):
        model, data = start(STILL)
        optimiser = build_optimiser(model, STILL)
        for number in numbers:
            update(model, optimiser, data, number, STILL, 3)
        gradients.append([weight.grad for weight in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("implementation", [kernels.fast, kernels.plain])
def test_gradients_that_are_clipped_to_zero_move_nothing(
    implementation: Callable[[], Any],
) -> None:
    settings = BATCHES.changed(clip=0)
    with implementation():
        model, data = start(settings)
        before = weights(model)
        update(model, build_optimiser(model, settings), data, 1, settings, 3)
    assert all(torch.equal(a, b) for a, b in zip(before, weights(model), strict=True))


def test_every_column_has_its_own_trust_ratio() -> None:
    """An update of a column's weights is as long as they are, times the learning rate."""
    settings = BATCHES.changed(batch_rows=None, tradeoff="constant", tradeoff_start=0.5)
    model, data = start(settings)
    before = {weight: weight.detach().clone() for weight in model.segments()}
    update(model, build_optimiser(model, settings), data, 1, settings, 3)
    for weight, sizes in model.segments().items():
        moves = (weight - before[weight]).split(sizes)
        for old, move in zip(before[weight].split(sizes), moves, strict=True):
            assert move.norm().item() == pytest.approx(0.01 * old.norm().item(), rel=1e-3)


def test_every_seed_has_its_own_initial_weights() -> None:
    model, _ = start(BATCHES)
    other = build_model(model.layout, BATCHES, 4, CPU)
    assert not torch.equal(other.embedding.weight, model.embedding.weight)


def test_every_epoch_is_another_partition_of_the_rows() -> None:
    _, data = start(BATCHES)
    batches = TrainingBatches(data, BATCHES, 3)
    assert batches.per_epoch == 3
    epochs = []
    for numbers in ((1, 2, 3), (4, 5, 6)):
        epochs.append([batches.rows(number).tolist() for number in numbers])
    for epoch in epochs:
        assert sorted(row for rows in epoch for row in rows) == list(range(60))
    assert epochs[0] != epochs[1]
    assert TrainingBatches(data, BATCHES, 4).rows(1).tolist() != epochs[0][0]


def test_each_update_takes_its_own_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    updates = {}

    def recording(*arguments: Any) -> torch.Tensor:
        _, _, batch, number, *_ = arguments
        updates[number] = batch
        return update(*arguments)

    monkeypatch.setattr(training, "update", recording)
    model, data = start(BATCHES)
    train(model, data, BATCHES, 3)
    batches = TrainingBatches(data, BATCHES, 3)
    assert list(updates) == list(range(1, BATCHES.updates + 1))
    for number, batch in updates.items():
        expected = data.take(batches.rows(number))
        assert torch.equal(batch.numbers, expected.numbers)
        assert torch.equal(batch.part, expected.part)


def test_training_ends_with_the_best_weights(tmp_path: Path) -> None:
    model, data = start(OVERSHOOTING)
    best = train(model, data, OVERSHOOTING, 3, metrics=tmp_path / "metrics.csv")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["validation_loss"]) for row in rows]
    lowest = int(np.argmin(losses))
    assert 0 < lowest < len(losses) - 1, "neither the first nor the last"
    assert (best.validation_loss, best.update) == (losses[lowest], lowest + 1)
    assert not model.training
    assert label_scores(model, data, "validation", OVERSHOOTING, 3).loss == losses[lowest]


class EveryUpdate(Checkpoint):
    """Is always due, and dies after a number of writes."""

    lives = 10**9

    def due(self) -> bool:
        return True

    def write(self, state: dict) -> None:
        super().write(state)
        self.lives -= 1
        if self.lives == 0:
            raise KeyboardInterrupt


class LastWeights(EveryUpdate):
    """Remembers the weights after the last update that was written."""

    weights: list[torch.Tensor]

    def write(self, state: dict) -> None:
        self.weights = [p.clone() for p in state["weights"]]
        super().write(state)


def test_repeated_batches_share_rows_and_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = start(BATCHES)
    settings = BATCHES.changed(repeated_batches=2, updates=8)
    rows_of_updates, masks_of_updates = [], []

    def recorded(batch: EncodedTable, *arguments: Any) -> Masked:
        masked = mask(batch, *arguments)
        if model.training:
            rows_of_updates.append(batch.numbers)
            masks_of_updates.append(masked.cells.mask)
        return masked

    monkeypatch.setattr(training, "mask", recorded)
    train(model, data, settings, 3)
    for drawn in (rows_of_updates, masks_of_updates):
        assert all(torch.equal(drawn[i], drawn[i + 1]) for i in range(0, 8, 2))
        assert not any(torch.equal(drawn[i], drawn[i + 1]) for i in range(1, 7, 2))


def test_repeated_batches_make_an_epoch_longer() -> None:
    _, data = start(BATCHES)
    once = TrainingBatches(data, BATCHES, 3)
    twice = TrainingBatches(data, BATCHES.changed(repeated_batches=2), 3)
    assert [n for n in range(1, 13) if once.ends_evaluated_epoch(n)] == [3, 6, 9, 12]
    assert [n for n in range(1, 13) if twice.ends_evaluated_epoch(n)] == [6, 12]


def test_settings_of_the_released_code_change_training() -> None:
    trained = []
    for changes in ({}, {"first_sync": True}, {"repeated_batches": 3}):
        settings = BATCHES.changed(**changes)
        model, data = start(settings)
        train(model, data, settings, 3)
        trained.append(torch.cat([weight.flatten() for weight in weights(model)]))
    assert len({weight.sum().item() for weight in trained}) == 3


@pytest.mark.parametrize("killed_after", [1, 5, 6, 7])
def test_a_resumed_training_equals_an_uninterrupted_one(tmp_path: Path, killed_after: int) -> None:
    model, data = start(BATCHES)
    whole = train(model, data, BATCHES, 3)
    other, _ = start(BATCHES)
    dying = EveryUpdate(tmp_path / "state", "one", 0)
    dying.lives = killed_after
    with pytest.raises(KeyboardInterrupt):
        train(other, data, BATCHES, 3, checkpoint=dying)
    fresh, _ = start(BATCHES)
    again = train(fresh, data, BATCHES, 3, checkpoint=Checkpoint(tmp_path / "state", "one", 60))
    assert (again.validation_loss, again.update) == (whole.validation_loss, whole.update)
    assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(fresh), strict=True))


def test_first_of_equally_low_losses_is_the_best() -> None:
    model, _ = start(BATCHES)
    state = BestWeights(build_optimiser(model, BATCHES))
    for number, loss in enumerate([2.0, 1.0, 1.0, math.nan, 1.5]):
        state.update = number
        state.offer(loss)
    assert (state.best_loss, state.best_update) == (1.0, 1)


def test_best_weights_outlive_an_interruption(tmp_path: Path) -> None:
    model, data = start(OVERSHOOTING)
    whole = train(model, data, OVERSHOOTING, 3)
    other, _ = start(OVERSHOOTING)
    dying = EveryUpdate(tmp_path / "state", "one", 0)
    dying.lives = whole.update + 1
    with pytest.raises(KeyboardInterrupt):
        train(other, data, OVERSHOOTING, 3, checkpoint=dying)
    fresh, _ = start(OVERSHOOTING)
    resumed = train(fresh, data, OVERSHOOTING, 3, checkpoint=dying)
    assert (resumed.validation_loss, resumed.update) == (whole.validation_loss, whole.update)
    assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(fresh), strict=True))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"precision": "bfloat16"}, marks=NEEDS_BFLOAT16),
        {"recompute_activations": "always", "layers": 4},
        {"class_balanced": True, "transductive": False},
        {"batch_rows": None, "evaluate_every": 4},
        {"first_sync": True, "repeated_batches": 2},
    ],
)
def test_every_kind_of_training_can_be_resumed(tmp_path: Path, changes: dict) -> None:
    """Compares the last weights, which every update went into, and not the best ones alone."""
    settings, last = BATCHES.changed(**changes), []
    for killed_after in (None, 3, 7):
        model, data = start(settings)
        final = LastWeights(tmp_path / f"{killed_after}", "one", 0)
        if killed_after:
            final.lives = killed_after
            with pytest.raises(KeyboardInterrupt):
                train(model, data, settings, 3, checkpoint=final)
            model, _ = start(settings)
            final.lives = 10**9
        train(model, data, settings, 3, checkpoint=final)
        last.append(final.weights)
    assert all(torch.equal(a, b) for other in last[1:] for a, b in zip(last[0], other, strict=True))


def test_plain_trainings_ignore_the_global_seed() -> None:
    trained = []
    with kernels.plain():
        for seed in (1, 2):
            model, data = start(BATCHES)
            torch.manual_seed(seed)
            train(model, data, BATCHES, 3)
            trained.append(weights(model))
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))


def test_two_threads_give_the_same_bits_twice() -> None:
    torch.set_num_threads(2)
    try:
        trained = []
        for _ in range(2):
            model, data = start(BATCHES)
            train(model, data, BATCHES, 3)
            trained.append(weights(model))
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))


def test_a_stamp_depends_on_settings_seed_data_and_threads() -> None:
    _, data = start(BATCHES)
    same = stamp(BATCHES, 3, tensors=data.tensors)
    missing = data.missing.clone()
    assert stamp(BATCHES, 3, tensors=data.tensors) == same
    missing[0, 0] = ~missing[0, 0]
    others = [
        stamp(BATCHES, 4, tensors=data.tensors),
        stamp(BATCHES.changed(heads=1), 3, tensors=data.tensors),
        stamp(BATCHES, 3, tensors=replace(data, missing=missing).tensors),
    ]
    torch.set_num_threads(2)
    others.append(stamp(BATCHES, 3, tensors=data.tensors))
    torch.set_num_threads(1)
    assert len({same, *others}) == 5


def test_a_terminated_training_leaves_its_checkpoint(tmp_path: Path) -> None:
    """As when a scheduler preempts its job."""
    model, data = start(BATCHES)
    train(model, data, BATCHES, 3)

    class Terminating(Progress):
        counted = 0

        def updated(self) -> None:
            super().updated()
            self.counted += 1
            if self.counted == 5:
                os.kill(os.getpid(), signal.SIGTERM)

    path = tmp_path / "state"
    preempted, _ = start(BATCHES)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        train(
            preempted,
            data,
            BATCHES,
            3,
            checkpoint=Checkpoint(path, "one", 60),
            follow=Terminating,
        )
    assert signal.getsignal(signal.SIGTERM) is before
    state = Checkpoint(path, "one", 60).read()
    assert state is not None
    assert state["update"] == 5
    resumed, _ = start(BATCHES)
    train(resumed, data, BATCHES, 3, checkpoint=Checkpoint(path, "one", 60))
    assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(resumed), strict=True))


def test_other_or_damaged_checkpoints_are_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = start(BATCHES)
    train(model, data, BATCHES, 3)
    path = tmp_path / "state"
    for damage in ("stamp", "half", "text", "bits"):
        other, _ = start(BATCHES)
        dying = EveryUpdate(path, "another" if damage == "stamp" else "one", 0)
        dying.lives = 5
        with pytest.raises(KeyboardInterrupt):
            train(other, data, BATCHES, 3, checkpoint=dying)
        content = bytearray(path.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
        damaged = {
            "stamp": path.read_bytes(),
            "half": path.read_bytes()[:1000],
            "text": b"text",
            "bits": bytes(content),
        }
        path.write_bytes(damaged[damage])
        fresh, _ = start(BATCHES)
        train(fresh, data, BATCHES, 3, checkpoint=Checkpoint(path, "one", 60))
        assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(fresh), strict=True))
        assert ("not a checkpoint" in capsys.readouterr().err) == (damage != "stamp")


KILLED = """
import sys
from pathlib import Path
from npt.interface import Resources
from npt.nn.learner import NPTLearner
from tests.conftest import first_split, make_table
from tests.npt.nn.test_training import LONG
table = make_table("binary")
split = first_split(table)
place = Path(sys.argv[1])
metrics = place / "metrics.csv"
resources = Resources(checkpoint=place / "state", checkpoint_minutes=0, metrics=metrics)
learner = NPTLearner(LONG, resources)
learner.fit(table.blind(split.test), split, 1)
learner.save(place / "weights.pt")
"""
LONG = BATCHES.changed(updates=150, batch_rows=None, evaluate_every=3)


def test_a_killed_training_resumes_bit_identically(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED]
    for place in ("whole", "killed"):
        (tmp_path / place).mkdir()
    subprocess.run([*command, tmp_path / "whole"], check=True, timeout=120)
    process = subprocess.Popen([*command, tmp_path / "killed"])
    deadline = time.monotonic() + 60
    while not (tmp_path / "killed/state").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert (tmp_path / "killed/state").exists()
    assert not (tmp_path / "killed/weights.pt").exists(), "it was over before it was killed"
    subprocess.run([*command, tmp_path / "killed"], check=True, timeout=120)
    one, two = (
        torch.load(tmp_path / place / "weights.pt", weights_only=True)
        for place in ("whole", "killed")
    )
    assert all(torch.equal(one[name], two[name]) for name in one)
    rows = [
        list(csv.DictReader((tmp_path / place / "metrics.csv").open()))
        for place in ("whole", "killed")
    ]
    assert [{**row, "seconds": ""} for row in rows[0]] == [
        {**row, "seconds": ""} for row in rows[1]
    ]


def test_metrics_have_a_row_for_every_evaluation(tmp_path: Path) -> None:
    model, data = start(BATCHES)
    settings = BATCHES.changed(evaluate_every=2)
    trained = train(model, data, settings, 3, metrics=tmp_path / "metrics.csv")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    assert list(rows[0]) == list(FIELDS)
    assert [int(row["update"]) for row in rows] == [6, 11]
    assert float(rows[-1]["best_validation_loss"]) == trained.validation_loss
    assert float(rows[0]["learning_rate"]) == learning_rate(6, settings)
    assert all(float(row["seconds"]) > 0 for row in rows)


@pytest.mark.parametrize("changes", [{}, {"attention_dropout": 0.0}, {"layer_norm_on": "all"}])
def test_recomputed_activations_change_no_bit(changes: dict) -> None:
    trained = []
    for recompute in ("never", "always"):
        settings = BATCHES.changed(recompute_activations=recompute, updates=4, **changes)
        model, data = start(settings)
        train(model, data, settings, 3)
        assert model.recompute == (recompute == "always")
        trained.append(weights(model))
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))


def test_bfloat16_is_refused_where_it_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "has_bfloat16", lambda device: False)
    require_precision("float32", CPU)
    require_precision("auto", CPU)
    require_precision("bfloat16", torch.device("cuda"))
    table = make_table("regression")
    split = first_split(table)
    settings = BATCHES.changed(precision="bfloat16")
    with pytest.raises(UserError, match=r"^precision: bfloat16: .*allowed: float32, auto$"):
        TrainedNPT.untrained(settings, Resources(), table, split, 0)


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


@NEEDS_BFLOAT16
@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_bfloat16_is_near_float32(task: Task) -> None:
    losses = []
    for precision in ("float32", "bfloat16"):
        settings = BATCHES.changed(precision=precision, hidden_dropout=0.0, attention_dropout=0.0)
        model, data = start(settings, task)
        optimiser = build_optimiser(model, settings)
        losses.append(
            [float(update(model, optimiser, data, number, settings, 3)) for number in range(1, 6)]
        )
        assert all(p.dtype == torch.float32 for p in model.parameters())
    assert losses[0] != losses[1]
    assert np.allclose(losses[0], losses[1], rtol=0.03)


def test_compiled_blocks_compute_the_same() -> None:
    """With dropout: its masks on the CPU are not drawn by compiled code, and are the same."""
    if not any(
        os.access(Path(folder) / name, os.X_OK)
        for folder in os.get_exec_path()
        for name in ("g++", "clang++")
    ):
        pytest.skip("no C++ compiler, which torch.compile needs on the CPU")
    losses = []
    for compiled in (False, True):
        settings = BATCHES.changed(
            compile=compiled, batch_rows=None, updates=3, between_attributes=False
        )
        model, data = start(settings)
        losses.append(train(model, data, settings, 3).validation_loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("batch_rows", [None, 25])
@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_validation_scores_are_those_of_full_passes(task: Task, batch_rows: int | None) -> None:
    settings = BATCHES.changed(batch_rows=batch_rows)
    model, data = start(settings, task)
    generator = generator_for(3, "evaluation", CPU)
    outputs_of_batches = []
    rows_of_batches = []
    for batch in partition(data, "validation", settings, generator):
        masked = mask(data.take(batch), "validation", settings, generator)
        in_validation = data.part[batch] == 1
        with torch.no_grad():
            predicted = model.eval().predict_target(masked.cells)[0]
        outputs_of_batches.append(predicted[in_validation])
        rows_of_batches.append(batch[in_validation])
    outputs = torch.cat(outputs_of_batches)
    rows = torch.cat(rows_of_batches)
    if task == "regression":
        loss = (outputs[:, 0] - data.numbers[rows, data.target]).square().mean()
        metric = loss.sqrt()
    else:
        loss = torch.nn.functional.cross_entropy(outputs, data.codes[rows, data.target])
        metric = (outputs.argmax(1) == data.codes[rows, data.target]).float().mean()
    expected = (pytest.approx(float(loss), rel=1e-5), pytest.approx(float(metric), rel=1e-5))
    assert label_scores(model, data, "validation", settings, 3) == expected


@pytest.mark.parametrize("task", ["multiclass", "regression"])
@pytest.mark.parametrize("norm", ["query", "all"])
def test_fast_and_plain_kernels_train_the_same(task: Task, norm: str) -> None:
    settings = BATCHES.changed(hidden_dropout=0, attention_dropout=0, layer_norm_on=norm, layers=4)
    trained = []
    for implementation in (kernels.fast, kernels.plain):
        with implementation():
            model, data = start(settings, task)
            result = train(model, data, settings, 3)
        trained.append((result.validation_loss, model))
    (fast_loss, fast), (plain_loss, plain) = trained
    assert fast_loss == pytest.approx(plain_loss, rel=1e-5)
    for (name, a), b in zip(fast.named_parameters(), plain.parameters(), strict=True):
        # A softmax ignores the keys' bias: LAMB makes a full step of the rounding noise.
        assert name.endswith("key.bias") or torch.allclose(a, b, atol=1e-4), name


def test_plain_kernels_train_with_dropout() -> None:
    with kernels.plain():
        model, data = start(BATCHES)
        result = train(model, data, BATCHES, 3)
    assert np.isfinite(result.validation_loss)
