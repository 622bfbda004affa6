from __future__ import annotations

import pytest
import torch

from npt import attention
from npt.attention import AttentionDropout, dot_product
from npt.noise import Dropout, Noise, share_kept

SHAPES = [pytest.param((2, 3, 7, 4), 7, id="short"), pytest.param((1, 2, 300, 4), 300, id="long")]


def inputs(shape: tuple[int, ...], seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, dtype=torch.double, generator=generator).requires_grad_() for _ in range(3)]


def masks(dropout: AttentionDropout, shape: tuple[int, ...]) -> torch.Tensor:
    """The mask of every probability, put together from the blocks in which it is drawn."""
    padded = shape[2] + (-shape[2] % attention.LANES if shape[2] <= attention.SHORT else 0)
    flat = torch.empty(shape[0] * shape[1], shape[2], padded, dtype=torch.double)
    for part, (batch, rows) in enumerate(attention._blocks(*flat.shape)):
        block = flat[batch, rows]
        block.copy_(dropout.noise.kept(block.shape, dropout.rate, dropout.site, part))
    return flat.view(*shape[:2], shape[2], padded)[..., : shape[2]]


@pytest.mark.parametrize(("shape", "scores"), SHAPES)
@pytest.mark.parametrize("kept_scores", [0, 2**24])
@pytest.mark.parametrize("block", [2**20, 500])
def test_values_and_gradients_equal_the_plain_form(
    shape: tuple[int, ...], scores: int, kept_scores: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "BLOCK_SCORES", block)
    noise = Noise()
    noise.key = 5
    for dropout in (None, AttentionDropout(0.25, noise, 3)):
        ours, plain = inputs(shape), inputs(shape)
        outputs = dot_product(*ours, scale=0.3, dropout=dropout, kept_scores=kept_scores)
        probabilities = (plain[0] @ plain[1].transpose(-1, -2) * 0.3).softmax(-1)
        if dropout:
            probabilities = probabilities * masks(dropout, shape) / share_kept(0.25)
        expected = probabilities @ plain[2]
        assert torch.allclose(outputs, expected, atol=1e-12)
        upstream = torch.randn(shape, dtype=torch.double, generator=torch.Generator().manual_seed(9))
        noise.key = 5
        outputs.backward(upstream)
        expected.backward(upstream)
        for a, b in zip(ours, plain, strict=True):
            assert a.grad is not None
            assert torch.allclose(a.grad, b.grad, atol=1e-11)


def test_a_mask_made_again_is_that_of_the_forward_pass_even_after_a_new_key() -> None:
    noise, (shape, _) = Noise(), ((1, 2, 40, 4), 40)
    gradients = []
    for kept_scores in (0, 2**24):
        noise.key = 7
        ours = inputs(shape)
        outputs = dot_product(*ours, scale=0.5, dropout=AttentionDropout(0.4, noise, 0), kept_scores=kept_scores)
        noise.key = 8
        outputs.sum().backward()
        gradients.append([x.grad for x in ours])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_masks_keep_their_share_and_depend_on_key_site_and_part_alone() -> None:
    noise = Noise()
    noise.key = 1
    shape = (400, 1000)
    one = noise.kept(shape, 0.1, site=2)
    assert abs(one.double().mean().item() - 0.9) < 4 * (0.09 / one.numel()) ** 0.5
    assert torch.equal(one, noise.kept(shape, 0.1, site=2))
    for other in (noise.kept(shape, 0.1, site=3), noise.kept(shape, 0.1, site=2, part=1), noise.kept(shape, 0.1, 2, key=2)):
        agreement = (one == other).double().mean().item()
        assert abs(agreement - (0.81 + 0.01)) < 4 * (0.25 / one.numel()) ** 0.5


def test_dropout_is_unbiased_and_absent_in_evaluation() -> None:
    drop, x = Dropout(0.1, Noise(), 0), torch.ones(1000, 300)
    dropped = drop(x)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / share_kept(0.1)])
    assert abs(dropped.mean().item() - 1) < 4 * (0.1 / 0.9 / x.numel()) ** 0.5
    assert torch.allclose(drop.add(3 * x, x), 3 + dropped)
    assert torch.equal(drop.eval()(x), x)
    assert torch.equal(drop.add(x, x), 2 * x)
