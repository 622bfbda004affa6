"""NPT with a Gaussian output (`output: gaussian`), and its likelihood."""

from __future__ import annotations

import math

import numpy as np
import torch

from npt.interface import Resources
from npt.nn.column_layout import ColumnLayout
from npt.nn.gaussian import LOWEST
from npt.nn.head import build_head
from npt.nn.inputs import EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.losses import label_loss, target_gaussians
from tests.conftest import SMALL_NPT, first_split, make_table

GAUSSIAN = SMALL_NPT.changed(output="gaussian", updates=40)


def test_loss_is_the_negative_log_density() -> None:
    head = build_head(ColumnLayout((1,), (True,), 0, gaussian=True), width=4)
    tokens = torch.randn(3, 4)
    values = torch.tensor([0.5, -1.0, 3.0])
    empty = torch.zeros(3, 1)
    continuous = torch.tensor([True])
    truth = EncodedTable(empty, values[:, None], empty, empty, continuous, continuous, 0)
    scored = torch.tensor([True, True, False])
    gaussians = target_gaussians(head, tokens[None])
    assert torch.allclose(gaussians.mean[0], head.target(tokens)[:, 0])
    normal = torch.distributions.Normal(gaussians.mean[0], gaussians.deviation[0])
    expected = -normal.log_prob(values)[:2].sum()
    assert torch.allclose(label_loss(head, tokens, truth, scored), expected)
    assert (gaussians.deviation > LOWEST).all()


def test_a_mean_has_the_weights_that_it_had() -> None:
    """The layer of the deviation is added, and changes no other weight."""
    for continuous in (True, False):
        layout = ColumnLayout((1,), (continuous,), 0)
        torch.manual_seed(0)
        plain = build_head(layout, width=4)
        torch.manual_seed(0)
        gaussian = build_head(ColumnLayout((1,), (continuous,), 0, gaussian=True), width=4)
        assert torch.equal(plain.weight, gaussian.weight)
        assert len(list(gaussian.parameters())) == len(list(plain.parameters())) + 2


def test_npt_learns_a_gaussian_on_a_table() -> None:
    table = make_table("regression", rows=120)
    split = first_split(table)
    learner = NPTLearner(GAUSSIAN, Resources(device="cpu"))
    fit = learner.fit(table.blind(split.test), split, seed=0)
    rows = split.validation
    errors = learner.predict(rows).values - table.truth[rows]
    deviation = np.std(table.truth[split.train])
    assert np.sqrt(np.mean(errors**2)) < 2 * deviation
    assert fit.validation_loss < 0.5 * math.log(2 * math.pi) + 1  # that of a standard normal
