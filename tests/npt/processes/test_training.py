"""Training of processes, and the curves of Gaussian processes beside those of scikit-learn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from npt.data.datasets.gp_curves import DATASET, read
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared
from npt.errors import UserError
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.method import Method
from npt.processes import curves
from npt.processes.curves import AMPLITUDES, KERNELS, NOISE, Hyperparameters
from npt.processes.learner import METHODS
from npt.processes.neural_process import NeuralProcess
from npt.processes.realisations import Realisations
from npt.processes.settings import Kernel, NeuralProcessSettings, TrainingSettings
from npt.processes.tasks import drawn_sizes
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
        width=64,
        attention="laplace",
        latent=False,
        updates=250,
        learning_rate=2e-3,
        evaluate_every=250,
    )
    torch.manual_seed(0)
    model = NeuralProcess(1, settings)
    source = Curves("rbf", settings)
    held_out = source.drawn(64, torch.Generator().manual_seed(9))
    before = log_likelihoods(model, [held_out], draws=1, seed=0)
    ProcessTraining(model, source, [held_out], settings, seed=0).run()
    after = log_likelihoods(model, [held_out], draws=1, seed=0)
    assert after[0] > before[0] + 0.5
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


CURVES_CONTENT = "e5418e7318539bfa"  # of the dataset on every machine


def drawn_curves(seed: int = 0) -> tuple[Hyperparameters, torch.Tensor, torch.Generator]:
    generator = torch.Generator().manual_seed(seed)
    return Hyperparameters.drawn(4, generator), curves.drawn_inputs(4, 30, generator), generator


def theirs(kernel: Kernel, length_scale: float, amplitude: float, period: float) -> object:
    shapes = {
        "rbf": kernels.RBF(length_scale),
        "matern": kernels.Matern(length_scale, nu=2.5),
        "periodic": kernels.ExpSineSquared(length_scale, period),
    }
    return kernels.ConstantKernel(amplitude**2) * shapes[kernel]


@pytest.mark.parametrize("kernel", KERNELS)
def test_covariance_and_posterior_are_those_of_the_kernel(kernel: Kernel) -> None:
    hyperparameters, x, generator = drawn_curves()
    y = curves.draw_curves(kernel, hyperparameters, x, generator)
    ours = curves.covariance(kernel, hyperparameters, x, x)
    predicted = curves.posterior(kernel, hyperparameters, x[:, :9], y[:, :9], x)
    for curve in range(4):
        facts = {name: values[curve] for name, values in hyperparameters.numbers().items()}
        shape = theirs(kernel, **facts)
        inputs = x[curve, :, None].numpy()
        assert np.allclose(ours[curve], shape(inputs))  # type: ignore[operator]
        model = GaussianProcessRegressor(shape + kernels.WhiteKernel(NOISE**2), optimizer=None)  # type: ignore[operator]
        model.fit(inputs[:9], y[curve, :9].numpy())
        mean, deviation = model.predict(inputs, return_std=True)
        assert np.allclose(predicted.mean[0, curve], mean, atol=1e-6)
        assert np.allclose(predicted.deviation[0, curve], deviation, atol=1e-6)


def test_curves_have_the_covariance_of_their_kernel() -> None:
    generator = torch.Generator().manual_seed(3)
    same = torch.ones(4000, 1, 1).double()
    equal = Hyperparameters(0.4 * same, 0.8 * same, 0.3 * same)
    x = torch.tensor([0.0, 0.2, 1.5]).double().expand(4000, -1)
    y = curves.draw_curves("rbf", equal, x, generator)
    expected = curves.covariance("rbf", equal, x, x)[0] + NOISE**2 * torch.eye(3)
    assert torch.allclose(torch.cov(y.T), expected, atol=0.05)


def test_sizes_and_hyperparameters_are_in_their_ranges() -> None:
    generator = torch.Generator().manual_seed(0)
    sizes = [drawn_sizes(generator, 3, 49) for _ in range(2000)]
    contexts = [context for context, _ in sizes]
    assert (min(contexts), max(contexts)) == (3, 49)
    assert all(context <= points <= 49 for context, points in sizes)
    amplitude = Hyperparameters.drawn(2000, generator).amplitude
    low, high = AMPLITUDES
    assert low <= amplitude.min() < low + 0.01
    assert high - 0.01 < amplitude.max() <= high


def test_dataset_has_contexts_and_targets_of_each_kernel(tmp_path: Path) -> None:
    prepared = prepare_declared(DATASET, tmp_path)
    assert prepared.facts["content"].startswith(CURVES_CONTENT)
    split = prepared.splits[0]
    frame = read({})
    number, kernel = frame["realisation"], frame["kernel"]
    validated = set(number[split.validation])
    tested = set(number[split.test])
    assert set(kernel[split.validation]) == {"rbf"}
    assert set(kernel[split.test]) == set(KERNELS)
    assert not validated & tested
    assert validated | tested <= set(number[split.train])
