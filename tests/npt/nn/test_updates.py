"""Losses, optimisers and schedules against their equations."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from npt.nn.column_layout import ColumnLayout
from npt.nn.gaussian import LOWEST
from npt.nn.head import ColumnHead, build_head
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.losses import label_loss, tradeoff, training_loss
from npt.nn.masking import Masked
from npt.nn.optimiser import Adam, Lamb, Lookahead, learning_rate
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
    gaussians = head.gaussians(tokens[None])
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


@pytest.mark.parametrize("size", [0, 1, 100])  # norms of zero, and below and above the cap of ten
def test_lamb_equals_its_equations(size: float) -> None:
    generator = np.random.default_rng(0)
    w = size * generator.normal(size=(3, 4))
    parameter = nn.Parameter(torch.tensor(w))
    optimiser = Lamb([parameter])
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for rate in (0.1, 0.05, 0.2):
        g = generator.normal(size=w.shape)
        parameter.grad = torch.tensor(g)
        optimiser.step(rate)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        u = m / (np.sqrt(v) + 1e-6)
        norm = np.linalg.norm(w)
        ratio = min(norm, 10) / np.linalg.norm(u) if norm > 0 else 1
        w = w - rate * ratio * u
    assert np.allclose(parameter.detach().numpy(), w, rtol=1e-12)


class PlusOne(Lamb):
    """Every update adds one to the weight."""

    def step(self, learning_rate: float) -> None:
        with torch.no_grad():
            self.parameters[0] += 1


@pytest.mark.parametrize(
    ("fraction", "first_sync", "sixth", "twelfth"),
    [(0.5, False, 3, 6), (0.5, True, 6, 9), (0.25, False, 1.5, 3)],
)
def test_lookahead_goes_part_of_the_way_every_six_updates(
    fraction: float, first_sync: bool, sixth: float, twelfth: float
) -> None:
    parameter = nn.Parameter(torch.zeros(1))
    optimiser = Lookahead(PlusOne([parameter]), 6, fraction, first_sync=first_sync)
    seen = []
    for number in range(1, 13):
        optimiser.optimiser.step(1.0)
        optimiser.moved(number)
        seen.append(parameter.item())
    assert seen[4:6] == [5, sixth]
    assert seen[11] == twelfth


def test_clipping_clamps_every_element() -> None:
    clipped, other = (nn.Parameter(torch.ones(3, dtype=torch.double)) for _ in range(2))
    clipped.grad = torch.tensor([1e30, -5.0, 0.25], dtype=torch.double)
    other.grad = torch.tensor([1.0, -1.0, 0.25], dtype=torch.double)
    Lamb([clipped], clip=1.0).step(0.1)
    Lamb([other]).step(0.1)
    assert torch.equal(clipped, other)


@pytest.mark.parametrize(
    ("schedule", "share", "total", "rate", "expected"),
    [
        ("flat_then_cosine", 0.5, 2000, 1.0,
         {1: 1, 1000: 1, 1001: 0.9999975326, 1500: 0.5, 2000: 0}),
        ("flat_then_cosine", 0.7, 100, 1.0, {70: 1, 71: 0.9972609477, 100: 0}),
        ("flat_then_cosine", 0.9, 100, 1.0, {90: 1, 95: 0.5, 100: 0}),
        ("cosine_cyclic", 0.2, 2000, 1e-3,
         {1: 1e-7, 201: 5.0005e-4, 401: 1e-3, 801: 5.0005e-4,
          1200: 1.04e-7, 1201: 5e-4, 2001: 2.50025e-4}),
        ("polynomial", 0.01, 1000, 5e-3,
         {1: 0, 6: 2.5e-3, 11: 5e-3, 506: (5e-3 - 1e-7) / 2 + 1e-7, 1001: 1e-7}),
        ("constant", 0.7, 100, 0.3, {1: 0.3, 100: 0.3}),
    ],
)  # fmt: skip
def test_schedules(
    schedule: str, share: float, total: int, rate: float, expected: dict[int, float]
) -> None:
    settings = NPTSettings(
        schedule=schedule, schedule_share=share, updates=total, learning_rate=rate
    )  # type: ignore[arg-type]
    for update, value in expected.items():
        assert learning_rate(update, settings) == pytest.approx(
            value, rel=5e-3 if value < 1e-5 else 1e-8, abs=1e-12
        )


def test_adam_is_torchs() -> None:
    torch.manual_seed(0)
    ours = nn.Parameter(torch.randn(4, 3, dtype=torch.double))
    theirs = nn.Parameter(ours.detach().clone())
    unused = nn.Parameter(torch.ones(2, dtype=torch.double))
    optimiser = Lookahead(Adam([ours, unused], epsilon=1e-6), steps=1, fraction=1.0)
    expected = torch.optim.Adam([theirs], lr=0.1, eps=1e-6)
    for number in range(1, 6):
        gradient = torch.randn(4, 3, dtype=torch.double)
        ours.grad = gradient.clone()
        theirs.grad = gradient
        optimiser.optimiser.step(0.1)
        optimiser.moved(number)
        expected.step()
    assert torch.allclose(ours, theirs, atol=1e-12)
    assert torch.equal(unused, torch.ones_like(unused))
