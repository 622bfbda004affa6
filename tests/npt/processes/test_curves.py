"""Curves of Gaussian processes and their exact posterior, beside scikit-learn's."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from npt.data.datasets.gp_curves import DATASET, read
from npt.data.preparation import prepare_declared
from npt.processes import curves
from npt.processes.curves import AMPLITUDES, KERNELS, NOISE, Hyperparameters
from npt.processes.settings import Kernel
from npt.processes.tasks import drawn_sizes

CONTENT = "e5418e7318539bfa"  # of the dataset on every machine


def drawn(seed: int = 0) -> tuple[Hyperparameters, torch.Tensor, torch.Generator]:
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
    hyperparameters, x, generator = drawn()
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
    sizes = [drawn_sizes(generator) for _ in range(2000)]
    contexts = [context for context, _ in sizes]
    assert (min(contexts), max(contexts)) == (3, 49)
    assert all(context <= points <= 49 for context, points in sizes)
    amplitude = Hyperparameters.drawn(2000, generator).amplitude
    low, high = AMPLITUDES
    assert low <= amplitude.min() < low + 0.01
    assert high - 0.01 < amplitude.max() <= high


def test_dataset_has_contexts_and_targets_of_each_kernel(tmp_path: Path) -> None:
    prepared = prepare_declared(DATASET, tmp_path)
    assert prepared.facts["content"].startswith(CONTENT)
    split = prepared.splits[0]
    frame = read({})
    number, kernel = frame["realisation"], frame["kernel"]
    validated = set(number[split.validation])
    tested = set(number[split.test])
    assert set(kernel[split.validation]) == {"rbf"}
    assert set(kernel[split.test]) == set(KERNELS)
    assert not validated & tested
    assert validated | tested <= set(number[split.train])
