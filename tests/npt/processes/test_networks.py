"""Neural processes by their definitions (Kim et al. 2019), and NPT as a process."""

import math
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from npt.nn.gaussian import LOWEST, Gaussians, floored
from npt.processes.attention import CrossAttention
from npt.processes.neural_process import NeuralProcess, latent_draws, pairs
from npt.processes.settings import Attention, NeuralProcessSettings, NPTProcessSettings
from npt.processes.tasks import Tasks
from npt.processes.trained import build

KINDS: tuple[Attention, ...] = get_args(Attention)
SMALL_NPT = NPTProcessSettings(width=8, layers=4, heads=2)


def tasks(context: int = 5, points: int = 9, inputs: int = 1, seed: int = 0) -> Tasks:
    generator = torch.Generator().manual_seed(seed)
    x = 4 * torch.rand(3, points, inputs, generator=generator) - 2
    return Tasks(x, x.sum(-1).sin(), context)


def model_of(name: str) -> Any:
    """A process with random weights."""
    torch.manual_seed(0)
    if name == "npt":
        return build(SMALL_NPT, inputs=1).eval()
    if name == "to_context":
        return build(SMALL_NPT.model_copy(update={"among_queries": False}), inputs=1).eval()
    if name == "conditional":
        return NeuralProcess(1, NeuralProcessSettings(attention="multihead", latent=False))
    return NeuralProcess(1, NeuralProcessSettings(attention=name))  # type: ignore[arg-type]


def predicted(model: Any, asked: Tasks) -> Gaussians:
    with torch.no_grad():
        return model.predict(asked, 3, torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("name", "weights"), [("uniform", 199_170), ("multihead", 281_474)])
def test_networks_have_the_published_sizes(name: str, weights: int) -> None:
    assert sum(parameter.numel() for parameter in model_of(name).parameters()) == weights


@pytest.mark.parametrize("name", [*KINDS, "conditional", "npt", "to_context"])
def test_order_of_the_context_and_values_of_targets_do_not_matter(name: str) -> None:
    asked = tasks()
    order = torch.tensor([3, 1, 4, 0, 2, *range(5, 9)])
    values = asked.y[:, order].clone()
    values[:, asked.context :] += 1
    model = model_of(name)
    before = predicted(model, asked)
    after = predicted(model, Tasks(asked.x[:, order], values, asked.context))
    assert torch.allclose(before.mean[..., order], after.mean, atol=1e-5)
    assert torch.allclose(before.deviation[..., order], after.deviation, atol=1e-5)


def test_uniform_attention_is_a_neural_process() -> None:
    """Both paths are means over the context, and the decoder sees both with the input."""
    asked = tasks()
    model = model_of("uniform")
    z = torch.randn(1, 3, 128)
    pairs = torch.cat([asked.shown_x, asked.shown_y[..., None]], -1)
    mean = model.encoder(pairs).mean(1, keepdim=True).expand(-1, 9, -1)
    draws = z[0, :, None].expand(-1, 9, -1)
    inputs = torch.cat([mean, draws, asked.x], -1)
    expected = Gaussians.from_outputs(model.decoder(inputs)[None])
    assert torch.allclose(model._decoded(asked, z).mean, expected.mean, atol=1e-5)


def test_operations_of_a_neural_process_are_linear() -> None:
    model = model_of("uniform")
    operations: list[int] = []
    for points in (100, 200, 400):
        with FlopCounterMode(display=False) as counter:
            predicted(model, tasks(context=points // 2, points=points))
        operations.append(counter.get_total_flops())
    assert np.ptp(operations[1:]) == 2 * np.ptp(operations[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_that_of_its_kind(kind: Attention) -> None:
    asked = tasks()
    torch.manual_seed(0)
    attention = CrossAttention(kind, inputs=1, width=16)
    values = torch.randn(3, 5, 16)
    with torch.no_grad():
        keys, queries = attention.embed(asked.shown_x), attention.embed(asked.x)
        expected = by_definition(attention, kind, keys, queries, values)
        assert torch.allclose(attention(asked.shown_x, values, asked.x), expected, atol=1e-5)
        weights = attention.weights(asked.shown_x, asked.x)  # (3, H, 9, 5)
    assert weights.shape == (3, 8 if kind == "multihead" else 1, 9, 5)
    assert torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]))
    if kind != "multihead":
        assert torch.allclose(weights[:, 0] @ values, expected, atol=1e-5)


def by_definition(
    attention: CrossAttention, kind: str, keys: Tensor, queries: Tensor, values: Tensor
) -> Tensor:
    if kind == "uniform":
        return values.mean(1, keepdim=True).expand(3, 9, 16)
    if kind == "laplace":
        distances = (queries[:, :, None] - keys[:, None]).abs().sum(-1)
        return (-distances).softmax(-1) @ values
    if kind == "dot_product":
        return (torch.einsum("bqc,bkc->bqk", queries, keys) / 4).softmax(-1) @ values
    multihead = attention.multihead
    assert multihead is not None
    total = torch.zeros(3, 9, 16)
    for part in torch.arange(16).split(2):  # eight heads of width two
        q = queries @ multihead.query.weight[part].T
        k = keys @ multihead.key.weight[part].T
        weights = (torch.einsum("bqc,bkc->bqk", q, k) / math.sqrt(2)).softmax(-1)
        attended = values @ multihead.value.weight[part].T
        total += weights @ attended @ multihead.back.weight[:, part].T
    return total


def test_objective_is_the_bound() -> None:
    model = model_of("uniform")
    asked = tasks()
    with torch.no_grad():
        value = model.objective(asked, torch.Generator().manual_seed(4))
        posterior = model.latent_encoder(pairs(asked.x, asked.y))
        prior = model.latent_encoder(pairs(asked.shown_x, asked.shown_y))
        z = latent_draws(posterior, 1, torch.Generator().manual_seed(4))
        densities = model._decoded(asked, z).log_densities(asked.y)[0].mean()
        ratio = posterior.stddev / prior.stddev
        shift = (posterior.mean - prior.mean) / prior.stddev
        divergences = 0.5 * (ratio**2 + shift**2 - 1) - ratio.log()
        divergence = divergences.sum(-1).mean() / 9
    assert torch.allclose(value, densities - divergence, atol=1e-5)


def test_deviations_have_a_floor() -> None:
    raw = torch.tensor([-100.0, 0.0, 5.0])
    assert torch.allclose(floored(raw), LOWEST + 0.9 * torch.log1p(raw.exp()))
    latent = model_of("uniform").latent_encoder(torch.tensor([[[1e4, 1.0]] * 2]))
    assert (latent.stddev >= LOWEST).all()
    assert (latent.stddev <= 1).all()


@pytest.mark.parametrize(("name", "depends"), [("npt", True), ("to_context", False)])
def test_company_matters_to_npt_alone(name: str, depends: bool) -> None:
    """With attention to the context alone it is a Transformer neural process."""
    asked = tasks()
    moved = asked.x.clone()
    moved[:, -1] += 1
    model = model_of(name)
    before = predicted(model, asked).mean[..., :-1]
    after = predicted(model, Tasks(moved, asked.y, asked.context)).mean[..., :-1]
    assert torch.allclose(before, after, atol=1e-6) != depends
