from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from npt.nn.column_layout import ColumnLayout
from npt.nn.head import ColumnHead
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.losses import feature_loss, label_loss, tradeoff, training_loss
from npt.nn.masking import Masked
from npt.nn.settings import NPTSettings

LAYOUT = ColumnLayout((3, 1, 2), (False, True, False), 2)


def truth() -> EncodedTable:
    codes = torch.tensor([[0, 0, 1], [2, 0, 0]])
    numbers = torch.tensor([[0.0, 0.5, 0.0], [0.0, -1.0, 0.0]])
    part = torch.zeros(2, dtype=torch.long)
    return EncodedTable(
        codes,
        numbers,
        torch.zeros(2, 3, dtype=torch.bool),
        part,
        torch.tensor([False, True, False]),
        torch.tensor([3, 1, 2]),
        2,
    )


def head() -> ColumnHead:
    """Width 1: logits (t, 0, -t) of the first column, number 2 t, target logits (t, 0)."""
    made = ColumnHead(LAYOUT, 1)
    made.weight.data = torch.tensor([[1.0], [0.0], [-1.0], [2.0], [1.0], [0.0]])
    made.bias.data.zero_()
    return made


@pytest.mark.parametrize("scored", [[True, True], [False, True]], ids=["both rows", "one row"])
def test_the_loss_of_a_hand_example(scored: list[bool]) -> None:
    tokens = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])[..., None]
    features = torch.tensor([[True, True, False], [True, False, False]])
    labels = torch.tensor(scored)
    masked = Masked(ModelInput(*(torch.zeros(1, 2, 3) for _ in range(3))), features, labels)
    normaliser = math.log(math.e + 1 + math.exp(-1))
    feature = ((normaliser - 1) + (2 - 0.5) ** 2 + (normaliser + 1)) / 3
    entropies = np.array([math.log(2), math.log(math.e + 1) - 1])
    label = entropies[scored].mean()
    for weight in (0.0, 0.3, 1.0):
        loss = training_loss(head(), tokens, truth(), masked, weight)
        assert loss.item() == pytest.approx(weight * feature + (1 - weight) * label, rel=1e-6)


def test_nothing_scored_is_no_loss() -> None:
    none = torch.zeros(2, 3, dtype=torch.bool)
    tokens = torch.randn(2, 3, 1)
    assert feature_loss(head(), tokens, truth(), none).item() == 0
    assert label_loss(head(), tokens[:, 2], truth(), none[:, 2]).item() == 0
    masked = Masked(ModelInput(*(torch.zeros(1, 2, 3) for _ in range(3))), none, none[:, 2])
    made = head()
    tokens.requires_grad_()
    loss = training_loss(made, tokens, truth(), masked, 0.5)
    loss.backward()
    assert loss.item() == 0
    assert all((x.grad == 0).all() for x in (tokens, made.weight, made.bias))


def test_the_tradeoff_falls_from_its_start_to_zero() -> None:
    settings = NPTSettings(updates=1000)
    assert tradeoff(1, settings) == tradeoff(2, settings) == 1
    assert tradeoff(502, settings) == pytest.approx(0.5)
    assert tradeoff(1000, settings) < 1e-4
    assert tradeoff(700, NPTSettings(updates=1000, tradeoff="constant", tradeoff_start=0.5)) == 0.5
