"""AdamW and its schedule against hand computations; the moving average against a loop."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from npt.compact.layers import MemberLinear
from npt.compact.model import CompactNPT
from npt.compact.optimisation import Optimiser, learning_rate
from npt.compact.settings import CompactSettings
from tests.npt.compact.tables import TINY, started, weights_of

SETTINGS = TINY.changed(weight_decay=0.5, clip=1e9, warmup=0.5)


def gradients(model: CompactNPT, seed: int, scale: float = 1.0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    of_names = {}
    for name, parameter in model.named_parameters():
        of_names[name] = scale * torch.randn(parameter.shape, generator=generator)
    return of_names


def step(optimiser: Optimiser, model: CompactNPT, of_names: dict[str, Tensor]) -> None:
    """An update whose gradients are given."""
    terms = [(p * of_names[name]).sum() for name, p in model.named_parameters()]
    optimiser.step(torch.stack(terms).sum())


def decayed_names(model: CompactNPT) -> set[str]:
    """Matrices, and the embeddings of bins and of levels."""
    names = {"embedding.weight", "embedding.levels.weight"}
    for name, module in model.named_modules():
        if isinstance(module, MemberLinear):
            names.add(f"{name}.weight")
    return names


def test_updates_are_those_of_adamw_with_decay_of_matrices() -> None:
    model = started(SETTINGS).model
    optimiser = Optimiser(model, SETTINGS)
    decayed = decayed_names(model)
    names = [name for name, _ in model.named_parameters()]
    assert decayed < set(names)
    expected = {name: p.detach().double() for name, p in model.named_parameters()}
    first = {name: torch.zeros_like(value) for name, value in expected.items()}
    second = {name: torch.zeros_like(value) for name, value in expected.items()}
    for number in (1, 2, 3):
        of_names = gradients(model, number)
        step(optimiser, model, of_names)
        rate = learning_rate(number, SETTINGS)
        for name, gradient in of_names.items():
            g = gradient.double()
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.98 * second[name] + 0.02 * g**2
            mean = first[name] / (1 - 0.9**number)
            square = second[name] / (1 - 0.98**number)
            if name in decayed:
                expected[name] = expected[name] * (1 - rate * 0.5)
            expected[name] = expected[name] - rate * mean / (square.sqrt() + 1e-8)
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.double(), expected[name], atol=1e-6), name


def test_learning_rate_at_its_corners() -> None:
    settings = CompactSettings(updates=1000, warmup=0.1, learning_rate=4.0)
    expected = {
        1: 0.01 * 4.0,
        50: 0.5 * 4.0 * 0.5 * (1 + math.cos(math.pi * 0.05)),
        100: 4.0 * 0.5 * (1 + math.cos(math.pi * 0.1)),
        500: 2.0,
        1000: 0.0,
    }
    for update, rate in expected.items():
        assert learning_rate(update, settings) == pytest.approx(rate, rel=1e-5, abs=1e-12)
    rates = [learning_rate(update, settings) for update in range(1, 1001)]
    peak = rates.index(max(rates))
    assert peak == 99
    assert sorted(rates[peak:], reverse=True) == rates[peak:]


def test_the_average_equals_a_loop() -> None:
    settings = SETTINGS.changed(weight_average=0.7)
    model = started(settings).model
    optimiser = Optimiser(model, settings)
    expected: list[Tensor] = []
    for number in range(1, 41):
        step(optimiser, model, gradients(model, number))
        current = weights_of(model)
        if number == 1:
            expected = current
        decay = min(0.7, (1 + number) / (10 + number))
        pairs = zip(expected, current, strict=True)
        expected = [decay * average + (1 - decay) * weight for average, weight in pairs]
    assert decay == 0.7
    averaged = optimiser.averaged.module.parameters()
    for average, weight in zip(averaged, expected, strict=True):
        assert torch.allclose(average, weight, atol=1e-5)
    differences = [
        float((average - weight).abs().max())
        for average, weight in zip(expected, weights_of(model), strict=True)
    ]
    assert max(differences) > 1e-3


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_gradients_have_at_most_the_norm_of_clip(scale: float) -> None:
    settings = SETTINGS.changed(clip=0.5, members=4)
    model = started(settings).model
    of_names = gradients(model, 1, scale)
    step(Optimiser(model, settings), model, of_names)
    squares = [float(p.grad.square().sum()) for p in model.parameters() if p.grad is not None]
    norm = math.sqrt(sum(squares))
    given = math.sqrt(sum(float(g.square().sum()) for g in of_names.values()))
    expected = min(given, 0.5 * math.sqrt(4))
    assert norm == pytest.approx(expected, rel=1e-4)


def test_members_of_a_kind_take_their_share_of_a_step() -> None:
    moves = []
    for scales in ([1.0], [1.0, 0.25]):
        settings = SETTINGS.changed(members=3, rate_scale=scales)
        model = started(settings).model
        optimiser = Optimiser(model, settings)
        before = weights_of(model)
        step(optimiser, model, gradients(model, 1))
        pairs = zip(weights_of(model), before, strict=True)
        moves.append([after - earlier for after, earlier in pairs])
    for whole, scaled in zip(*moves, strict=True):
        for member, share in enumerate((1.0, 0.25, 1.0)):
            assert torch.allclose(scaled[member], share * whole[member], atol=1e-7)
