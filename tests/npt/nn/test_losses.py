from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from npt.nn.column_layout import ColumnLayout
from npt.nn.gaussian import LOWEST
from npt.nn.head import ColumnHead, build_head
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.losses import label_loss, target_gaussians, tradeoff, training_loss
from npt.nn.masking import Masked
from npt.nn.settings import NPTSettings

LAYOUT = ColumnLayout((3, 1, 2), (False, True, False), 2)
NO_CELLS = ModelInput(*torch.zeros(3, 1, 2, 3))


def truth() -> EncodedTable:
    codes = torch.tensor([[0, 0, 1], [2, 0, 0]])
    numbers = torch.tensor([[0.0, 0.5, 0.0], [0.0, -1.0, 0.0]])
    continuous = torch.tensor([False, True, False])
    part = torch.zeros(2)
    return EncodedTable(codes, numbers, codes < 0, part, continuous, torch.tensor([3, 1, 2]), 2)


def head() -> ColumnHead:
    """Width 1: logits (t, 0, -t) of the first column, number 2 t, target logits (t, 0)."""
    decoder = ColumnHead(LAYOUT, 1)
    decoder.weight.data = torch.tensor([[1.0], [0.0], [-1.0], [2.0], [1.0], [0.0]])
    decoder.bias.data.zero_()
    return decoder


@pytest.mark.parametrize("scored", [[True, True], [False, True]], ids=["both rows", "one row"])
def test_the_loss_of_a_hand_example(scored: list[bool]) -> None:
    tokens = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])[..., None]
    features = torch.tensor([[True, True, False], [True, False, False]])
    labels = torch.tensor(scored)
    masked = Masked(NO_CELLS, features, labels)
    normaliser = math.log(math.e + 1 + math.exp(-1))
    feature = ((normaliser - 1) + (2 - 0.5) ** 2 + (normaliser + 1)) / 3
    entropies = np.array([math.log(2), math.log(math.e + 1) - 1])
    label = entropies[scored].mean()
    for weight in (0.0, 0.3, 1.0):
        loss = training_loss(head(), tokens, truth(), masked, weight)
        assert loss.item() == pytest.approx(weight * feature + (1 - weight) * label, rel=1e-6)


def test_nothing_scored_is_no_loss() -> None:
    none = torch.zeros(2, 3, dtype=torch.bool)
    tokens = torch.randn(2, 3, 1, requires_grad=True)
    masked = Masked(NO_CELLS, none, none[:, 2])
    decoder = head()
    loss = training_loss(decoder, tokens, truth(), masked, 0.5)
    loss.backward()
    assert loss.item() == 0
    assert all((x.grad == 0).all() for x in (tokens, decoder.weight, decoder.bias))


def test_loss_of_a_gaussian_is_its_negative_log_density() -> None:
    head = build_head(ColumnLayout((1,), (True,), 0, gaussian=True), width=4)
    tokens = torch.randn(3, 4)
    values = torch.tensor([0.5, -1.0, 3.0])
    empty = torch.zeros(3, 1)
    continuous = torch.tensor([True])
    truth = EncodedTable(empty, values[:, None], empty, empty, continuous, continuous, 0)
    gaussians = target_gaussians(head, tokens[None])
    assert torch.allclose(gaussians.mean[0], head.target(tokens)[:, 0])
    assert (gaussians.deviation > LOWEST).all()
    normal = torch.distributions.Normal(gaussians.mean[0], gaussians.deviation[0])
    expected = -normal.log_prob(values)[:2].sum()
    scored = torch.tensor([True, True, False])
    assert torch.allclose(label_loss(head, tokens, truth, scored), expected)


def test_the_tradeoff_falls_from_its_start_to_zero() -> None:
    settings = NPTSettings(updates=1000)
    assert tradeoff(1, settings) == tradeoff(2, settings) == 1
    assert tradeoff(502, settings) == pytest.approx(0.5)
    assert tradeoff(1000, settings) < 1e-4
    assert tradeoff(700, NPTSettings(updates=1000, tradeoff="constant", tradeoff_start=0.5)) == 0.5
