"""Training of processes: what it learns, and that it resumes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.data.datasets.gp_curves import DATASET
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared
from npt.errors import UserError
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.method import Method
from npt.processes.learner import METHODS
from npt.processes.neural_process import NeuralProcess
from npt.processes.realisations import Realisations
from npt.processes.settings import NeuralProcessSettings, TrainingSettings
from npt.processes.training import (
    Curves,
    ProcessTraining,
    learning_rate,
    log_likelihoods,
    source_of,
)
from npt.table import Column, Split, Table

CPU = torch.device("cpu")
FEW = 40  # held-out realisations of each part


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The held-out curves, of which a few stay."""
    whole = prepare_declared(DATASET, tmp_path_factory.getbasetemp())
    split = whole.splits[0]
    number = whole.table.numbers(0)
    kept: list[np.ndarray] = []
    for rows in (split.validation, split.test):
        some = np.unique(number[rows])[:FEW]
        kept.append(rows[np.isin(number[rows], some)])
    fewer = Split(0, split.train, *kept)
    return Prepared(whole.table, {0: fewer}, whole.facts)


def test_attention_reproduces_the_context() -> None:
    settings = NeuralProcessSettings(
        attention="laplace", latent=False, updates=250, learning_rate=2e-3, evaluate_every=250
    )
    torch.manual_seed(0)
    model = NeuralProcess(1, width=64, attention="laplace", latent=False)
    source = Curves("rbf", settings)
    held_out = source.drawn(64, torch.Generator().manual_seed(9))
    before = log_likelihoods(model, [held_out], draws=1, seed=0)
    ProcessTraining(model, source, [held_out], settings, seed=0).run()
    after = log_likelihoods(model, [held_out], draws=1, seed=0)
    assert after.context > before.context + 0.5
    with torch.no_grad():
        means = model.predict(held_out).mean[0]
    errors = (means - held_out.y)[:, : held_out.context]
    assert errors.square().mean().sqrt() < 0.1 + 0.02


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_held_out_targets_are_predicted(method: Method, prepared: Prepared, tmp_path: Path) -> None:
    settings = method.settings(**method.test_settings)
    learner: Any = method.build(settings, Resources())
    split = prepared.splits[0]
    evaluation = evaluate(learner, prepared.table, split, seed=1)
    assert evaluation.status == "ok"
    values = evaluation.predictions["test"].values
    assert values.shape == split.test.shape
    learner.save(tmp_path / "weights.pt")
    assert method.load is not None
    arguments = (tmp_path / "weights.pt", prepared.table.blind(split.test), split, 1)
    loaded: Any = method.load(settings, Resources(), *arguments)
    assert np.array_equal(loaded.predict(split.test).values, values)
    assert loaded.history[:, 0].tolist() == [2, 4]
    other = method.settings(**{**method.test_settings, "width": 16})
    with pytest.raises(UserError, match="not the weights of this model"):
        method.load(other, Resources(), *arguments)


def test_targets_are_predicted_from_their_realisation(prepared: Prepared) -> None:
    split = prepared.splits[0]
    data = Realisations.from_table(prepared.table, split, CPU)
    seen = 0
    for tasks, rows in data.held_out("test", most=16):
        assert len(np.unique(data.number[rows], axis=1)[0]) == 1
        assert np.isin(rows[:, : tasks.context], split.train).all()
        assert np.isin(rows[:, tasks.context :], split.test).all()
        seen += rows[:, tasks.context :].size
    assert seen == len(split.test)


def test_cosine_falls_to_zero() -> None:
    settings = TrainingSettings(schedule="cosine", updates=100, learning_rate=1.0)
    rates = [learning_rate(update, settings) for update in (1, 51, 100)]
    assert rates[0] == 1
    assert rates[1] == pytest.approx(0.5)
    assert rates[2] < 1e-3
    assert learning_rate(100, TrainingSettings(learning_rate=1.0)) == 1


def images(held_out: int = 2) -> tuple[Any, Split]:
    """Six tables of twenty points with two inputs, of which the last are held out."""
    points = 20
    number = np.repeat(np.arange(6), points)
    generator = np.random.default_rng(0)
    columns = [number, *generator.normal(size=(3, len(number)))]
    names = ("realisation", "x1", "x2", "y")
    table = Table(tuple(Column(name, "continuous") for name in names), tuple(columns), 3)
    is_target = (number >= 6 - held_out) & (np.arange(len(number)) % points > 7)
    targets = np.flatnonzero(is_target)
    halves = np.array_split(targets, 2)
    return table, Split(0, np.flatnonzero(~is_target), *halves)


def test_tables_of_the_dataset_are_trained_on() -> None:
    table, split = images()
    data = Realisations.from_table(table, split, CPU)
    settings = TrainingSettings(curves=None, most_points=12)
    source = source_of(data, settings)
    generator = torch.Generator().manual_seed(0)
    seen: set[tuple[float, float]] = set()
    for _ in range(50):
        tasks = source.drawn(4, generator)
        assert 3 <= tasks.context <= tasks.y.shape[1] <= 12
        for x, y in zip(tasks.x, tasks.y, strict=True):
            assert len(x.unique(dim=0)) == len(x)
            seen.update(zip(x[:, 0].tolist(), y.tolist(), strict=True))
    points = torch.stack([data.x[:, 0], data.y], 1)[data.number < 4]
    assert seen == set(map(tuple, points.tolist()))


def test_curves_are_for_tables_of_one_input() -> None:
    data = Realisations.from_table(*images(), CPU)
    with pytest.raises(UserError, match="curves: rbf is for tables of one input; this one has 2"):
        source_of(data, TrainingSettings())
    nothing = Realisations.from_table(*images(held_out=6), CPU)
    with pytest.raises(UserError, match="has no table that is for training alone"):
        source_of(nothing, TrainingSettings(curves=None))
