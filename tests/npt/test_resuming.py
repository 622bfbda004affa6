"""Interrupted trainings resume bit-identically or start over; files of weights predict the same."""

import csv
import math
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from npt.compact.learner import CompactLearner
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.nn.checkpoint import Checkpoint, stamp
from npt.nn.device import has_bfloat16
from npt.nn.engine import Training
from npt.nn.learner import NPTLearner
from npt.nn.optimiser import Adam
from npt.nn.settings import NPTSettings
from npt.nn.training import NPTTraining
from npt.processes.neural_process import NeuralProcess
from npt.processes.settings import NeuralProcessSettings
from npt.processes.training import Curves, ProcessTraining
from npt.table import TASKS, Split, Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import TINY, mixed_table, started
from tests.npt.nn.encoders.test_encoders import RESNET, SIREN, untrained_on_images
from tests.npt.nn.test_training import BATCHES, start

NEEDS_BFLOAT16 = pytest.mark.skipif(
    not has_bfloat16(torch.device("cpu")), reason="no instructions for bfloat16"
)
PROCESS = NeuralProcessSettings(
    width=16, updates=11, evaluate_every=4, draws=2, schedule="cosine", learning_rate=1e-2
)
Run = Callable[..., Training]


def npt(**changes: Any) -> Run:
    """Trainings of exact NPT from initial weights."""
    settings = BATCHES.changed(**changes)
    return lambda **options: NPTTraining(*start(settings), settings, 3).run(**options)


def images(**changes: Any) -> Run:
    """Trainings with an encoder of images."""
    settings = RESNET.changed(updates=4, **changes)

    def run(**options: Any) -> Training:
        trained = untrained_on_images(settings)
        return NPTTraining(trained.model, trained.data, settings, 0).run(**options)

    return run


def compact(table: Table | None = None, stop_at: list[int] | None = None, **changes: Any) -> Run:
    """Trainings of compact NPT."""
    settings = TINY.changed(**changes)
    return lambda **options: started(settings, table, stop_at=stop_at).run(**options)


def process(**options: Any) -> Training:
    """Trainings of a neural process."""
    source = Curves("rbf", PROCESS)
    held_out = [source.drawn(2, torch.Generator().manual_seed(9))]
    torch.manual_seed(0)
    return ProcessTraining(NeuralProcess(1, PROCESS), source, held_out, PROCESS, 3).run(**options)


def columns_alone(*chosen: int) -> Table:
    table = mixed_table()
    return Table.from_values([table.columns[j] for j in chosen], table.values[:, chosen], 0)


RUNS: dict[str, Any] = {
    "npt": npt(),
    "npt, overshooting": npt(batch_rows=None, learning_rate=0.1),
    "npt, bfloat16": pytest.param(npt(precision="bfloat16"), marks=NEEDS_BFLOAT16),
    "npt, recomputed": npt(recompute_activations="always", layers=4),
    "npt, released code": npt(first_sync=True, repeated_batches=2),
    "npt, adam": npt(optimiser="adam"),
    "npt, resnet18": images(),
    "npt, siren": images(**SIREN),
    "compact": compact(),
    "compact, without datapoints": compact(between_datapoints=False),
    "compact, masked targets": compact(target_mask=0.3),
    "compact, periodic": compact(number_embedding="periodic"),
    "compact, patient": compact(batch_rows=None, patience=5),
    "compact, scaled rates": compact(rate_scale=[1.0, 0.25]),
    "compact, without validation rows": compact(stop_at=[3, 11]),
    "compact, numbers alone": compact(columns_alone(0, 1)),
    "compact, categories alone": compact(columns_alone(0, 3)),
    "process": process,
}
THREE = pytest.mark.parametrize("run", [RUNS["npt"], RUNS["compact"], process])


class EveryUpdate(Checkpoint):
    """Is always due, and dies after a number of writes."""

    lives = 10**9

    def due(self) -> bool:
        return True

    def write(self, state: Any) -> None:
        super().write(state)
        self.lives -= 1
        if self.lives == 0:
            raise KeyboardInterrupt


def interrupted(
    run: Run, path: Path, killed_after: int, stamped: str = "one", **options: Any
) -> None:
    dying = EveryUpdate(path, stamped, 0)
    dying.lives = killed_after
    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=dying, **options)


def assert_same(training: Training, other: Training) -> None:
    """Best weights, and what every update went into: moments, slow and averaged weights."""
    assert training.best_updates == other.best_updates
    assert training.updates == other.updates
    for name, tensors in training.state().items():
        for tensor, same in zip(tensors, other.state()[name], strict=True):
            if name == "history":  # its second column are seconds
                tensor, same = tensor[:, [0, 2, 3]], same[:, [0, 2, 3]]
            assert torch.equal(tensor, same), name


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_resumed_training_equals_a_whole_one(run: Run, tmp_path: Path) -> None:
    whole = run()
    path = tmp_path / "state"
    interrupted(run, path, 2)
    interrupted(run, path, 1)  # right after it has resumed
    resumed = run(checkpoint=Checkpoint(path, "one", 60))
    assert_same(resumed, whole)
    assert resumed.earlier_seconds > 0


@pytest.mark.parametrize("damage", ["stamp", "half", "text", "bits"])
def test_other_or_damaged_checkpoints_are_ignored(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "state"
    run = RUNS["npt"]
    interrupted(run, path, 5, "another" if damage == "stamp" else "one")
    content = path.read_bytes()
    middle = len(content) // 2
    damaged = {
        "stamp": content,
        "half": content[:1000],
        "text": b"text",
        "bits": content[:middle] + bytes(64) + content[middle + 64 :],
    }
    path.write_bytes(damaged[damage])
    again = run(checkpoint=Checkpoint(path, "one", 60))
    assert again.earlier_seconds == 0
    assert_same(again, run())
    assert (str(path) in capsys.readouterr().err) == (damage != "stamp")


@pytest.mark.parametrize("update", [5, BATCHES.updates])
def test_a_terminated_training_leaves_its_checkpoint(
    update: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a scheduler preempts its job."""

    evaluate = NPTTraining.evaluate

    def terminated(training: NPTTraining, number: int, loss: Any) -> Any:
        if number == update:
            os.kill(os.getpid(), signal.SIGTERM)
        return evaluate(training, number, loss)

    checkpoint = Checkpoint(tmp_path / "state", "one", 60)
    run = RUNS["npt"]
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(NPTTraining, "evaluate", terminated)
        with pytest.raises(SystemExit):
            run(checkpoint=replace(checkpoint))
    assert signal.getsignal(signal.SIGTERM) is before
    state = checkpoint.read()
    assert state is not None
    assert state["updates"] == update
    assert_same(run(checkpoint=checkpoint), run())


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return [{**row, "seconds": ""} for row in csv.DictReader(stream)]


@THREE
def test_metrics_have_a_row_for_every_evaluation(run: Run, tmp_path: Path) -> None:
    whole = run(metrics=tmp_path / "whole.csv")
    path = tmp_path / "metrics.csv"
    interrupted(run, tmp_path / "state", 7, metrics=path)
    run(checkpoint=Checkpoint(tmp_path / "state", "one", 60), metrics=path)
    rows = rows_of(path)
    assert rows == rows_of(tmp_path / "whole.csv")
    assert list(rows[0])[0 :: len(rows[0]) - 1] == ["update", "seconds"]
    assert int(rows[-1]["update"]) == whole.updates
    assert len(rows) >= 3


def test_a_stamp_depends_on_settings_seed_data_and_threads() -> None:
    _, data = start(BATCHES)
    same = stamp(BATCHES, 3, tensors=data.tensors)
    assert stamp(BATCHES, 3, tensors=data.tensors) == same
    missing = data.missing.clone()
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


class Counting(Training):
    """The members' weights are the number of the update; losses are those that are offered."""

    def __init__(self, losses: list[list[float]]) -> None:
        model = nn.Linear(1, len(losses[0]), bias=False)
        nn.init.zeros_(model.weight)
        super().__init__(model, Adam(model.parameters()), len(losses), members=len(losses[0]))
        self.offered = losses

    def update(self, number: int) -> float:
        nn.init.constant_(self.model.weight, number)  # type: ignore[arg-type]
        return 0.0

    def evaluate(self, number: int, loss: float | torch.Tensor) -> None:
        self.offer(self.offered[number - 1])


@pytest.mark.parametrize(
    ("offered", "losses", "best"),
    [
        ([[2.0], [1.0], [1.0], [math.nan], [1.5]], [1.0], [2]),
        (
            [[3.0, 1.0, math.nan], [2.0, 1.0, 5.0], [2.5, 0.5, 4.0], [2.0, math.nan, 4.5]],
            [2.0, 0.5, 4.0],
            [2, 3, 3],
        ),
        ([[math.nan, 1.0]], [math.inf, 1.0], [0, 1]),
    ],
)
def test_each_member_ends_with_the_weights_of_its_first_lowest_loss(
    offered: list[list[float]], losses: list[float], best: list[int]
) -> None:
    training = Counting(offered)
    training.run()
    assert training.losses.tolist() == losses
    assert training.best_updates == best
    assert training.model.weight.flatten().tolist() == best  # type: ignore[operator, union-attr]


SMALL = NPTSettings(width=8, layers=2, heads=2, updates=5, target_mask=0.5)
LEARNERS: dict[str, tuple[Any, Any]] = {
    "npt": (NPTLearner, SMALL),
    "compact": (CompactLearner, TINY.changed(updates=5, context_rows=20)),
    "periodic": (CompactLearner, TINY.changed(updates=5, number_embedding="periodic")),
}
KINDS = pytest.mark.parametrize(("learner", "settings"), LEARNERS.values(), ids=LEARNERS)


def blind_table(task: Task = "binary") -> tuple[Table, Split]:
    table = mixed_table(task)
    split = first_split(table)
    return table.blind(split.test), split


@KINDS
@pytest.mark.parametrize("task", TASKS)
def test_weights_predict_the_same(learner: Any, settings: Any, task: Task, tmp_path: Path) -> None:
    table, split = blind_table(task)
    fitted = learner(settings, Resources())
    fit = fitted.fit(table, split, 1)
    path = tmp_path / "weights.pt"
    fitted.save(path)
    loaded = learner.load(settings, Resources(), path, table, split, 1)
    assert np.array_equal(loaded.predict(split.test).values, fitted.predict(split.test).values)
    assert loaded.parameters == fit.parameters


@KINDS
@pytest.mark.parametrize("damage", ["empty", "text", "half", "other model", "other tensors"])
def test_damaged_or_other_weights_are_refused(
    learner: Any, settings: Any, damage: str, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pt"
    saved = settings.changed(width=16) if damage == "other model" else settings
    network = resolve_name(learner.network)
    network.untrained(saved, torch.device("cpu"), *blind_table(), 1).save(path)
    if damage == "other tensors":
        torch.save({"weight": torch.ones(2)}, path)
    whole = path.read_bytes()
    damaged = {"empty": b"", "text": b"weights", "half": whole[: len(whole) // 2]}
    path.write_bytes(damaged.get(damage, whole))
    with pytest.raises(UserError) as refused:
        learner.load(settings, Resources(), path, *blind_table(), 1)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_lack_of_memory_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weights.pt"
    learner, settings = LEARNERS["npt"]
    fold = blind_table()
    resolve_name(learner.network).untrained(settings, torch.device("cpu"), *fold, 1).save(path)

    def load(*_: Any, **__: Any) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch, "load", load)
    with pytest.raises(Infeasible, match="out of memory on cpu"):
        learner.load(settings, Resources(), path, *fold, 1)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        RUNS["npt"](checkpoint=Checkpoint(path, "one", 60))
