from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from npt.nn.optimiser import Adam, Lamb, Lookahead, learning_rate
from npt.nn.settings import NPTSettings


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


def test_segments_of_a_fused_parameter_move_like_separate_ones() -> None:
    torch.manual_seed(0)
    sizes = [1, 2, 3, 4]
    fused = nn.Parameter(torch.randn(sum(sizes), 3, dtype=torch.double))
    separate = [nn.Parameter(part.clone()) for part in fused.detach().split(sizes)]
    whole = Lamb([fused], {fused: sizes})
    parts = Lamb(separate)
    for _ in range(3):
        fused.grad = torch.randn(sum(sizes), 3, dtype=torch.double)
        for parameter, gradient in zip(separate, fused.grad.split(sizes), strict=True):
            parameter.grad = gradient.clone()
        whole.step(0.1)
        parts.step(0.1)
    assert torch.allclose(fused, torch.cat(separate), rtol=1e-12)


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
    for _ in range(12):
        optimiser.step(1.0)
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
    optimiser = Lookahead(Adam([ours, unused]), steps=1, fraction=1.0)
    expected = torch.optim.Adam([theirs], lr=0.1, eps=1e-6)
    for _ in range(5):
        gradient = torch.randn(4, 3, dtype=torch.double)
        ours.grad = gradient.clone()
        theirs.grad = gradient
        optimiser.step(0.1)
        expected.step()
    assert torch.allclose(ours, theirs, atol=1e-12)
    assert torch.equal(unused, torch.ones_like(unused))
