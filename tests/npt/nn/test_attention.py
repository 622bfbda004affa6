from __future__ import annotations

import multiprocessing

import numpy as np
import pytest
import torch

from npt.nn.kernels import attention, dropout
from npt.nn.kernels.attention import AttentionDropout, dot_product
from npt.nn.kernels.dropout import Dropout, DropoutMasks, keep_probability

SHAPES = [
    pytest.param((20, 3, 2, 4), 2, id="very short"),
    pytest.param((2, 3, 7, 4), 7, id="short"),
    pytest.param((1, 2, 300, 4), 300, id="long"),
]


def random_inputs(shape: tuple[int, ...], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(shape, dtype=torch.double, generator=generator).requires_grad_()
        for _ in range(3)
    ]


def masks(dropout: AttentionDropout, shape: tuple[int, ...]) -> torch.Tensor:
    """The mask of every probability, put together from the blocks in which it is drawn."""
    padded = shape[2] + (-shape[2] % attention.LANES if shape[2] <= attention.SHORT else 0)
    flat = torch.empty(shape[0] * shape[1], shape[2], padded, dtype=torch.double)
    for part, (batch, rows) in enumerate(attention._blocks(*flat.shape)):
        block = flat[batch, rows]
        block.copy_(dropout.masks.kept(block.shape, dropout.rate, dropout.site, part))
    return flat.view(*shape[:2], shape[2], padded)[..., : shape[2]]


@pytest.mark.parametrize(("shape", "scores"), SHAPES)
@pytest.mark.parametrize("kept_scores", [0, 2**24])
@pytest.mark.parametrize("block", [2**20, 500])
def test_values_and_gradients_equal_the_plain_form(
    shape: tuple[int, ...],
    scores: int,
    kept_scores: int,
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attention, "BLOCK_SCORES", block)
    monkeypatch.setattr(attention, "BLOCK_PRODUCTS", block)
    source = DropoutMasks()
    source.key = 5
    for dropped in (None, AttentionDropout(0.25, source, 3)):
        ours, plain = random_inputs(shape), random_inputs(shape)
        outputs = dot_product(*ours, scale=0.3, dropout=dropped, kept_scores=kept_scores)
        probabilities = (plain[0] @ plain[1].transpose(-1, -2) * 0.3).softmax(-1)
        if dropped:
            probabilities = probabilities * masks(dropped, shape) / keep_probability(0.25)
        expected = probabilities @ plain[2]
        assert torch.allclose(outputs, expected, atol=1e-12)
        upstream = torch.randn(
            shape, dtype=torch.double, generator=torch.Generator().manual_seed(9)
        )
        source.key = 5
        outputs.backward(upstream)
        expected.backward(upstream)
        for a, b in zip(ours, plain, strict=True):
            assert a.grad is not None
            assert torch.allclose(a.grad, b.grad, atol=1e-11)


def test_a_recomputed_mask_is_that_of_the_forward_pass() -> None:
    source, (shape, _) = DropoutMasks(), ((1, 2, 40, 4), 40)
    gradients = []
    for kept_scores in (0, 2**24):
        source.key = 7
        ours = random_inputs(shape)
        outputs = dot_product(
            *ours, scale=0.5, dropout=AttentionDropout(0.4, source, 0), kept_scores=kept_scores
        )
        source.key = 8
        outputs.sum().backward()
        gradients.append([x.grad for x in ours])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_masks_keep_the_rate_and_depend_on_key_site_and_part() -> None:
    source = DropoutMasks()
    source.key = 1
    shape = (400, 1000)
    one = source.kept(shape, 0.1, site=2)
    assert abs(one.double().mean().item() - 0.9) < 4 * (0.09 / one.numel()) ** 0.5
    assert torch.equal(one, source.kept(shape, 0.1, site=2))
    for other in (
        source.kept(shape, 0.1, site=3),
        source.kept(shape, 0.1, site=2, part=1),
        source.kept(shape, 0.1, 2, key=2),
    ):
        agreement = (one == other).double().mean().item()
        assert abs(agreement - (0.81 + 0.01)) < 4 * (0.25 / one.numel()) ** 0.5


def test_dropout_is_unbiased_and_absent_in_evaluation() -> None:
    drop, x = Dropout(0.1, DropoutMasks(), 0), torch.ones(1000, 300)
    dropped = drop(x)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / keep_probability(0.1)])
    assert abs(dropped.mean().item() - 1) < 4 * (0.1 / 0.9 / x.numel()) ** 0.5
    assert torch.allclose(drop.add(3 * x, x), 3 + dropped)
    assert torch.equal(drop.eval()(x), x)
    assert torch.equal(drop.add(x, x), 2 * x)


def test_masks_do_not_depend_on_threads() -> None:
    source, drawn = DropoutMasks(), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        drawn.append(source.kept((3, 200_001), 0.3, site=4))
    torch.set_num_threads(1)
    assert all(torch.equal(drawn[0], other) for other in drawn[1:])


def fill(threads: int) -> None:
    words = np.empty(1000, np.uint64)
    list(dropout._threads(threads).map(dropout._fill, [(words, (1, 2, 3, 4))]))
    assert words[0] != words[1]


def test_a_forked_process_has_its_own_threads() -> None:
    fill(2)
    child = multiprocessing.get_context("fork").Process(target=fill, args=(2,), daemon=True)
    child.start()
    child.join(20)
    assert child.exitcode == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_is_unbiased_in_either_precision(dtype: torch.dtype) -> None:
    drop, x = Dropout(0.1, DropoutMasks(), 0), torch.ones(2000, 500, dtype=dtype)
    error = 4 * (0.1 / 0.9 / x.numel()) ** 0.5
    resolution = (
        0.002 if dtype == torch.bfloat16 else 0
    )  # of a single product, one way or the other
    assert abs(drop(x).double().mean().item() - 1) < error + resolution
    assert abs(drop.add(torch.zeros_like(x), x).double().mean().item() - 1) < error + resolution


def test_the_gpu_form_is_the_same_attention() -> None:
    """Run on the CPU: padding of odd head widths, and the plain form of many short sequences."""
    for shape in ((5, 2, 9, 3), (1, 2, 300, 31)):
        q, k, v = random_inputs(shape)
        expected = (q @ k.transpose(-1, -2) * 0.3).softmax(-1) @ v
        assert torch.allclose(attention._on_gpu(q, k, v, 0.3, 0.0), expected, atol=1e-12)
