from __future__ import annotations

import pytest
import torch

from npt.nn.kernels import attention
from npt.nn.kernels.attention import dot_product
from npt.nn.kernels.dropout import Dropout

SHAPES = [
    pytest.param((20, 3, 2, 4), id="very short"),
    pytest.param((2, 3, 7, 4), id="short"),
    pytest.param((1, 2, 300, 4), id="long"),
]


def random_inputs(shape: tuple[int, ...], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors = torch.randn(3, *shape, dtype=torch.double, generator=generator)
    return [tensor.requires_grad_() for tensor in tensors.unbind()]


def masks(dropout: Dropout, shape: tuple[int, ...]) -> torch.Tensor:
    """The mask of every probability, put together from the blocks in which it is drawn."""
    padded = shape[2] + (-shape[2] % attention.LANES if shape[2] <= attention.SHORT else 0)
    flat = torch.empty(shape[0] * shape[1], shape[2], padded, dtype=torch.double)
    for part, (items, rows) in enumerate(attention._blocks(*flat.shape)):
        block = flat[items, rows]
        block.copy_(dropout.kept(block.shape, part))
    return flat.view(*shape[:3], padded)[..., : shape[2]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kept_scores", [0, 2**24])
@pytest.mark.parametrize("block", [2**20, 500])
def test_values_and_gradients_equal_the_plain_form(
    shape: tuple[int, ...], kept_scores: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "BLOCK_SCORES", block)
    monkeypatch.setattr(attention, "KEPT_SCORES", kept_scores)
    source = Dropout(0.25, site=3)
    for dropped in (None, source):
        source.key = 5
        ours, plain = random_inputs(shape), random_inputs(shape)
        outputs = dot_product(*ours, scale=0.3, dropout=dropped)
        probabilities = (plain[0] @ plain[1].transpose(-1, -2) * 0.3).softmax(-1)
        if dropped:
            probabilities = probabilities * masks(dropped, shape) / source.keep_probability
        expected = probabilities @ plain[2]
        assert torch.allclose(outputs, expected, atol=1e-12)
        upstream, *_ = random_inputs(shape, seed=9)
        source.key = 6  # a mask that is drawn again is that of the forward pass
        outputs.backward(upstream)
        expected.backward(upstream)
        for a, b in zip(ours, plain, strict=True):
            assert a.grad is not None
            assert torch.allclose(a.grad, b.grad, atol=1e-11)


def test_masks_keep_the_rate_and_depend_on_key_site_and_part() -> None:
    source = Dropout(0.1, site=2)
    shape = (400, 1000)
    mask = source.kept(shape)
    assert abs(mask.double().mean().item() - 0.9) < 4 * (0.09 / mask.numel()) ** 0.5
    assert torch.equal(mask, source.kept(shape))
    other_site = Dropout(0.1, site=3).kept(shape)
    for other in (other_site, source.kept(shape, part=1), source.kept(shape, key=2)):
        agreement = (mask == other).double().mean().item()
        assert abs(agreement - (0.81 + 0.01)) < 4 * (0.25 / mask.numel()) ** 0.5


@pytest.mark.parametrize(("dtype", "resolution"), [(torch.float32, 0), (torch.bfloat16, 0.002)])
def test_dropout_is_unbiased_and_absent_in_evaluation(
    dtype: torch.dtype, resolution: float
) -> None:
    drop = Dropout(0.1)
    x = torch.ones(1000, 300, dtype=dtype)
    dropped = drop(x)
    assert abs(dropped.double().mean() - 1) < 4 * (0.1 / 0.9 / x.numel()) ** 0.5 + resolution
    assert torch.equal(drop.eval()(x), x)


def test_the_gpu_form_is_the_same_attention() -> None:
    """Run on the CPU: padding of odd head widths, and the plain form of many short sequences."""
    for shape in ((5, 2, 9, 3), (1, 2, 300, 31)):
        q, k, v = random_inputs(shape)
        expected = (q @ k.transpose(-1, -2) * 0.3).softmax(-1) @ v
        assert torch.allclose(attention._on_gpu(q, k, v, 0.3, 0.0), expected, atol=1e-12)
