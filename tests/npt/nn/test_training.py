"""What happens around an update: seeds, interruption, precision, several processes, progress."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from npt.data.encoding import statistics
from npt.interface import UserError
from npt.nn.checkpoint import Checkpoint, stamp
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable
from npt.nn.losses import training_loss
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import learning_rate
from npt.nn.progress import FIELDS
from npt.nn.settings import NPTSettings
from npt.nn.training import (
    build_model,
    build_optimiser,
    label_scores,
    mean_label_loss,
    train,
    update,
)
from npt.seeding import generator_for
from npt.table import Task
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


@pytest.mark.parametrize("killed_after", [1, 5, 6, 7])
def test_a_run_taken_up_ends_like_one_that_never_stopped(tmp_path: Path, killed_after: int) -> None:
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


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "bfloat16"},
        {"recompute_activations": "always", "layers": 4},
        {"class_balanced": True, "transductive": False},
        {"batch_rows": None, "evaluate_every": 4},
    ],
)
def test_every_kind_of_run_can_be_taken_up(tmp_path: Path, changes: dict) -> None:
    """Compares the last weights, which every update went into, and not the best ones alone."""
    settings, last = replace(BATCHES, **changes), []
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


def test_a_stamp_follows_everything_that_a_result_depends_on() -> None:
    _, data = start(BATCHES)
    same, missing = stamp(BATCHES, 3, data=data), data.missing.clone()
    assert stamp(BATCHES, 3, data=data) == same
    missing[0, 0] = ~missing[0, 0]
    others = [stamp(BATCHES, 4, data=data), stamp(replace(BATCHES, heads=1), 3, data=data)]
    others.append(stamp(BATCHES, 3, data=replace(data, missing=missing)))
    torch.set_num_threads(2)
    others.append(stamp(BATCHES, 3, data=data))
    torch.set_num_threads(1)
    assert len({same, *others}) == 5


def test_the_state_of_another_training_or_a_damaged_file_is_not_taken_up(
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
learner = NPTLearner(LONG, Resources(checkpoint=place / "state", checkpoint_minutes=0, metrics=place / "metrics.csv"))
learner.fit(table.blind(split.test), split, 1)
learner.save(place / "weights.pt")
"""
LONG = replace(BATCHES, updates=150, batch_rows=None, evaluate_every=3)


def test_killed_in_the_middle_and_started_again(tmp_path: Path) -> None:
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
    settings = replace(BATCHES, evaluate_every=2)
    trained = train(model, data, settings, 3, metrics=tmp_path / "metrics.csv")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    assert list(rows[0]) == list(FIELDS)
    assert [int(row["update"]) for row in rows] == [6, 11]
    assert float(rows[-1]["best_validation_loss"]) == trained.validation_loss
    assert float(rows[0]["learning_rate"]) == learning_rate(6, settings)
    assert all(float(row["seconds"]) > 0 for row in rows)


def test_a_tracker_that_is_unknown_or_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = start(BATCHES)
    monkeypatch.setenv("NPT_TRACKERS", "tensorbord")
    with pytest.raises(
        UserError, match="NPT_TRACKERS: 'tensorbord' is unknown; allowed: tensorboard, wandb"
    ):
        train(model, data, BATCHES, 3)
    monkeypatch.setenv("NPT_TRACKERS", "wandb")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UserError, match="wandb is not installed"):
        train(model, data, BATCHES, 3)


def test_trackers_get_the_rows_of_the_csv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[tuple[int, dict]] = []

    class Wandb:
        def init(self, **_: object) -> Wandb:
            return self

        def log(self, row: dict, step: int) -> None:
            seen.append((step, row))

        def finish(self) -> None:
            seen.append((-1, {}))

    monkeypatch.setenv("NPT_TRACKERS", "wandb")
    monkeypatch.setitem(sys.modules, "wandb", Wandb())
    model, data = start(BATCHES)
    train(model, data, BATCHES, 3, metrics=tmp_path / "metrics.csv")
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    assert seen.pop() == (-1, {})
    assert [(step, f"{row['validation_loss']}") for step, row in seen] == [
        (int(r["update"]), r["validation_loss"]) for r in rows
    ]


@pytest.mark.parametrize("changes", [{}, {"attention_dropout": 0.0}, {"layer_norm_on": "all"}])
def test_activations_made_again_change_no_bit(changes: dict) -> None:
    trained = []
    for recompute in ("never", "always"):
        settings = replace(BATCHES, recompute_activations=recompute, updates=4, **changes)
        model, data = start(settings)
        train(model, data, settings, 3)
        assert model.recompute == (recompute == "always")
        trained.append(weights(model))
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_bfloat16_is_near_float32(task: Task) -> None:
    losses = []
    for precision in ("float32", "bfloat16"):
        settings = replace(BATCHES, precision=precision, hidden_dropout=0.0, attention_dropout=0.0)
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
        settings = replace(
            BATCHES, compile=compiled, batch_rows=None, updates=3, between_attributes=False
        )
        model, data = start(settings)
        losses.append(train(model, data, settings, 3).validation_loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_the_scores_of_a_validation_pass_are_those_of_the_whole_model(task: Task) -> None:
    settings = replace(BATCHES, batch_rows=None)
    model, data = start(settings, task)
    masked = mask(data, "validation", settings, generator_for(3, "evaluation", CPU))
    with torch.no_grad():
        rows = data.part == 1
        outputs = model.eval().predict_target(masked.cells)[0][rows]
    if task == "regression":
        loss = (outputs[:, 0] - data.numbers[rows, data.target]).square().mean()
        metric = loss.sqrt()
    else:
        loss = torch.nn.functional.cross_entropy(outputs, data.codes[rows, data.target])
        metric = (outputs.argmax(1) == data.codes[rows, data.target]).float().mean()
    expected = (pytest.approx(float(loss), rel=1e-5), pytest.approx(float(metric), rel=1e-5))
    assert label_scores(model, data, "validation", settings, 3) == expected
    assert mean_label_loss(model, data, "validation", settings, 3) == expected[0]


WORKER = """
import sys
import torch
from npt.nn import distributed
from npt.nn.training import train
from tests.npt.nn.test_training import ALIKE, start
distributed.join("cpu")
model, data = start(ALIKE)
trained = train(model, data, ALIKE, 3)
torch.save([p.detach() for p in model.parameters()], f"{sys.argv[1]}/{distributed.rank()}.pt")
distributed.leave()
"""
ALIKE = replace(
    BATCHES,
    batch_rows=30,
    feature_mask=0.0,
    tradeoff_start=0.0,
    target_mask=1.0,
    hidden_dropout=0.0,
    attention_dropout=0.0,
    updates=4,
)


def test_two_processes_train_one_model_on_the_mean_of_their_gradients(tmp_path: Path) -> None:
    """With nothing drawn but the batches, one process that sums both batches' losses is the oracle."""
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "--no-python",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*torchrun, sys.executable, "-c", WORKER, tmp_path],
        check=True,
        timeout=120,
        env=environment,
    )
    one, two = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))

    from npt.nn.batches import partition

    model, data = start(ALIKE)
    optimiser, best, kept = build_optimiser(model, ALIKE), np.inf, weights(model)
    for number in range(1, ALIKE.updates + 1):
        batches = partition(data, "train", ALIKE, generator_for(3, "batches", CPU, number - 1))
        assert len(batches) == 2
        model.train()
        model.zero_grad()
        for rows in batches:
            masked = mask(batch := data.take(rows), "train", ALIKE, torch.Generator())
            (training_loss(model.head, model(masked.cells)[0], batch, masked, 0.0) / 2).backward()
        optimiser.step(learning_rate(number, ALIKE))
        loss = mean_label_loss(model, data, "validation", ALIKE, 3, number)
        if loss < best:
            best, kept = loss, weights(model)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, kept, strict=True))
